package lsp

// WorkspaceEdit is a change of several files in the form of the protocol. It is meant to be written as JSON, without
// unused optional fields. A client needs the capabilities workspace.workspaceEdit.documentChanges, resourceOperations
// for created, renamed and deleted files, and changeAnnotationSupport.
type WorkspaceEdit struct {
	// DocumentChanges are *DeleteFile, *RenameFile, *CreateFile and *TextDocumentEdit, to be applied in this order. Never
	// nil.
	DocumentChanges []DocumentChange `json:"documentChanges"`
	// ChangeAnnotations has an annotation for each step that changes something, by the id of the step.
	ChangeAnnotations map[string]ChangeAnnotation `json:"changeAnnotations,omitempty"`
	// LeftOut lists the changes that Options.Partial left out, in path order. It is not part of the JSON.
	LeftOut []Unsupported `json:"-"`
}

// DocumentChange is a type of this package that can be in a list of changes.
type DocumentChange interface {
	notes() []string // the ids of its annotations
}

// CreateFile creates an empty file and its missing parent directories. It has no options, so an existing file is an
// error.
type CreateFile struct {
	Kind         string `json:"kind"` // "create"
	URI          string `json:"uri"`
	AnnotationID string `json:"annotationId,omitempty"`
}

// RenameFile renames a file and creates the missing parent directories of the new name. It has no options, so an
// existing file is an error.
type RenameFile struct {
	Kind         string `json:"kind"` // "rename"
	OldURI       string `json:"oldUri"`
	NewURI       string `json:"newUri"`
	AnnotationID string `json:"annotationId,omitempty"`
}

// DeleteFile deletes a file, or a directory that is empty by then.
type DeleteFile struct {
	Kind         string `json:"kind"` // "delete"
	URI          string `json:"uri"`
	AnnotationID string `json:"annotationId,omitempty"`
}

// TextDocumentEdit changes the text of one file.
type TextDocumentEdit struct {
	TextDocument DocumentID `json:"textDocument"`
	// Edits are in ascending order and do not overlap. All positions refer to the text before the first edit.
	Edits []TextEdit `json:"edits"`
}

// DocumentID names a text, whether it is open in the editor or not.
type DocumentID struct {
	URI string `json:"uri"`
	// Version is the version of an open document, nil for the text on disk. Here it is always nil, and null in JSON.
	Version *int32 `json:"version"`
}

// TextEdit replaces a range by a text.
type TextEdit struct {
	Range        Range  `json:"range"`
	NewText      string `json:"newText"`
	AnnotationID string `json:"annotationId,omitempty"`
}

// Range is the text from Start up to End, without the character at End.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Position is a place between two characters. A line ends with "\n", "\r\n" or a lone "\r".
type Position struct {
	Line      int `json:"line"`      // counted from 0
	Character int `json:"character"` // in the line, in units of the encoding, counted from 0
}

// ChangeAnnotation explains a change to the user of the editor.
type ChangeAnnotation struct {
	Label string `json:"label"` // the id of the step
	// NeedsConfirmation means that the editor must ask the user first.
	NeedsConfirmation bool   `json:"needsConfirmation,omitempty"`
	Description       string `json:"description,omitempty"`
}

func (c *CreateFile) notes() []string { return []string{c.AnnotationID} }
func (c *RenameFile) notes() []string { return []string{c.AnnotationID} }
func (c *DeleteFile) notes() []string { return []string{c.AnnotationID} }

func (c *TextDocumentEdit) notes() []string {
	var ids []string
	for _, e := range c.Edits {
		ids = append(ids, e.AnnotationID)
	}
	return ids
}
