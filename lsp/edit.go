package lsp

// WorkspaceEdit is the change of several files, as the protocol has it. It is made to be written as JSON; what of it is
// optional is left out there. A client has to have the capabilities workspace.workspaceEdit.documentChanges,
// resourceOperations for what is created, renamed and deleted, and changeAnnotationSupport.
type WorkspaceEdit struct {
	// DocumentChanges are *DeleteFile, *RenameFile, *CreateFile and *TextDocumentEdit, to be made in this order. Never
	// nil.
	DocumentChanges []DocumentChange `json:"documentChanges"`
	// ChangeAnnotations has one for each step that changes something, by its id.
	ChangeAnnotations map[string]ChangeAnnotation `json:"changeAnnotations,omitempty"`
	// LeftOut is what Options.Partial has left out, in path order. It is not part of the JSON.
	LeftOut []Unsupported `json:"-"`
}

// DocumentChange is a type of this package that stands in a list of changes.
type DocumentChange interface {
	notes() []string // the ids of its annotations
}

// CreateFile makes an empty file, and the directories above it that are missing. Without options, as here, a file that
// is there already is an error.
type CreateFile struct {
	Kind         string `json:"kind"` // "create"
	URI          string `json:"uri"`
	AnnotationID string `json:"annotationId,omitempty"`
}

// RenameFile gives a file another name, and makes the directories above that which are missing. Without options, as
// here, a file that is there already is an error.
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
	// Edits are in ascending order and do not overlap. All count by the text as it was before any of them.
	Edits []TextEdit `json:"edits"`
}

// DocumentID names a text, whether it is open in the editor or not.
type DocumentID struct {
	URI string `json:"uri"`
	// Version is that of an open document, nil for what is on disk. It is nil here, and null in JSON.
	Version *int32 `json:"version"`
}

// TextEdit replaces a range by a text.
type TextEdit struct {
	Range        Range  `json:"range"`
	NewText      string `json:"newText"`
	AnnotationID string `json:"annotationId,omitempty"`
}

// Range is from one position to before another.
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
	// NeedsConfirmation means that the editor has to ask first.
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
