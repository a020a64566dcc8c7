package actions

import (
	"maps"
	"slices"
)

// EditFiles edits files line by line and text by text, each file with its own list of edits.
//
// The edits of one file are made in this order, in any order of the list. First create. Then insert and replace_lines,
// all of which refer to the lines of the file before the step (or after create). Then str_replace in the order of the
// list, each on the result of the one before. Last append in the order of the list. Lines count from 1, negative
// numbers from the end; ranges include both ends. Two inserts at one line keep their order. A range may not overlap
// another range. A text may be inserted at the border of a range, but not between two of its lines.
//
// Text is written unchanged, with two exceptions. First, a line end is added between a text and a line that follows it,
// and between a last line without an end and a text that follows it. Nothing is ever added at the end of the file, so
// the text that replaces the last line decides whether the file ends in a newline. Second, if all line ends of the file
// are of one kind, the line ends of the text become that kind. In a file of several kinds, and with EOL "as_given",
// they stay unchanged, but a str_replace keeps the line ends of the replaced text, as [Edit] does. An OldStr with "\r"
// is matched exactly, and nothing is adapted. A byte order mark stays in place. Symbolic links are followed, never
// replaced.
//
// By default one edit that cannot be made fails the step, and the *editFilesError lists all such edits in all files.
// With OnError "continue" a file with a failed edit stays unchanged, and the other files are edited. Each such file has
// a warning. The step succeeds even if no file was edited; Expect can prevent that. Reports has each file in both
// cases.
type EditFiles struct {
	FileEdits   []FileEdits `json:"file_edits" param:"required" doc:"The files, each once, with their edits."`
	OnError     string      `json:"on_error,omitempty" enum:"stop,continue" doc:"A file with a failure fails the step (stop) or is reported (continue). Default: stop."`
	RequireHash bool        `json:"require_hash,omitempty" doc:"Refuse edits of existing files without content_hash or range_hash."`
	EOL         string      `json:"eol,omitempty" enum:"match,as_given" doc:"match: new lines get the line end of the file if it has only one kind; as_given: they stay as written. Default: match."`
	Binary      bool        `json:"binary,omitempty" doc:"Also edit binary files."`
}

// FileEdits are the edits of one file.
type FileEdits struct {
	Path  string     `json:"path" param:"required" doc:"The file."`
	Edits []LineEdit `json:"edits" param:"required" doc:"Edits: create first, then insert and replace_lines, both with the lines of the old file, then str_replace, then append."`
}

// LineEdit is an edit of an [EditFiles]. The required fields depend on Command; unused fields must have their zero
// values. [CreateText], [ReplaceText], [InsertAfter], [AppendText] and [ReplaceLines] return edits.
type LineEdit struct {
	Command     string  `json:"command" param:"required" enum:"create,str_replace,insert,append,replace_lines" doc:"The kind of edit."`
	FileText    *string `json:"file_text,omitempty" doc:"For create: the text of the new file. Directories are created as needed."`
	CreateOnly  bool    `json:"create_only,omitempty" doc:"For create: the file must not exist, which is the default."`
	Overwrite   bool    `json:"overwrite,omitempty" doc:"For create: replace the text of an existing file. It keeps its mode, unless mode is given."`
	Mode        string  `json:"mode,omitempty" doc:"For create: the permissions in octal, such as 0755, also of an existing file."`
	OldStr      string  `json:"old_str,omitempty" doc:"For str_replace: the text to replace, which must occur once."`
	NewStr      *string `json:"new_str,omitempty" doc:"For all but create: the new text; empty deletes."`
	ReplaceAll  bool    `json:"replace_all,omitempty" doc:"For str_replace: replace every occurrence."`
	InsertLine  *int    `json:"insert_line,omitempty" doc:"For insert: the line before the new text, from 1; 0 is the top of the file, -1 its end."`
	StartLine   int     `json:"start_line,omitempty" param:"nonzero" doc:"For replace_lines: the first line, counted from 1; negative counts from the end."`
	EndLine     int     `json:"end_line,omitempty" param:"nonzero" doc:"For replace_lines: the last line, included; negative counts from the end."`
	ContentHash string  `json:"content_hash,omitempty" doc:"Required SHA-256 of the file before the step in hexadecimal, or at least its first 12 digits."`
	RangeHash   string  `json:"range_hash,omitempty" doc:"The same for the lines to replace with their line ends, or for the line after which to insert."`
}

// The commands of a [LineEdit].
const (
	commandCreate       = "create"
	commandReplace      = "str_replace"
	commandInsert       = "insert"
	commandAppend       = "append"
	commandReplaceLines = "replace_lines"
)

// eolAsGiven is the value of eol that keeps line ends.
const eolAsGiven = "as_given"

// CreateText returns an edit that creates a file, which must not exist.
func CreateText(text string) LineEdit { return LineEdit{Command: commandCreate, FileText: &text} }

// ReplaceText returns an edit that replaces a text, which must occur once.
func ReplaceText(oldText, newText string) LineEdit {
	return LineEdit{Command: commandReplace, OldStr: oldText, NewStr: &newText}
}

// InsertAfter returns an edit that inserts text after a line, or with 0 at the top of the file.
func InsertAfter(line int, text string) LineEdit {
	return LineEdit{Command: commandInsert, InsertLine: &line, NewStr: &text}
}

// AppendText returns an edit that appends text to a file, on a line of its own.
func AppendText(text string) LineEdit { return LineEdit{Command: commandAppend, NewStr: &text} }

// ReplaceLines returns an edit that replaces the lines start to end, both included; an empty text deletes them.
func ReplaceLines(start, end int, text string) LineEdit {
	return LineEdit{Command: commandReplaceLines, StartLine: start, EndLine: end, NewStr: &text}
}

// WriteFiles returns an action that creates each file, or replaces the text of an existing file. texts maps paths to
// texts. A file that already has its text is not touched. A symbolic link is followed. WithMode sets a mode for the
// files.
func WriteFiles(texts map[string]string) EditFiles {
	var e EditFiles
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		edit := CreateText(texts[path])
		edit.Overwrite = true
		e.FileEdits = append(e.FileEdits, FileEdits{Path: path, Edits: []LineEdit{edit}})
	}
	return e
}

// Spec implements [Action].
func (EditFiles) Spec() Spec {
	return Spec{Name: "edit_files", Summary: "Create and edit files: by lines, by text, at the end", Input: InputNone}
}

// Touches implements [Toucher].
func (e EditFiles) Touches() (reads, writes []string, known bool) {
	paths := make([]string, len(e.FileEdits))
	for i, f := range e.FileEdits {
		paths[i] = f.Path
	}
	return paths, paths, true
}

func (e LineEdit) newText() string {
	text := e.NewStr
	if e.Command == commandCreate {
		text = e.FileText
	}
	if text == nil {
		return ""
	}
	return *text
}
