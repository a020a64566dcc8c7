package actions

import (
	"maps"
	"slices"
)

// EditFiles edits files line by line and text by text, each file by a list of its own.
//
// The edits of one file are made in this order, wherever they stand in the list: create, then insert and
// replace_lines, all of which refer to the lines of the file as the step found it (or as create has made it), then
// str_replace in the order of the list, each of which sees what the one before it has left, then append in the order
// of the list. Lines count from 1, negative numbers from the end; ranges include both ends. Two inserts at one line
// keep their order. A range may not overlap with another one, nor may a text be inserted between two of its lines; at
// its border it may.
//
// Text is written as given, but for two things. Where another line follows a text, or a text follows a last line that
// has no end, a line end is put between; nothing is ever added at the end of the file, so the text that replaces the
// last line decides whether the file ends in a newline. And if all line ends of the file are of one kind, those of the
// text become that kind; in a file of several kinds, and with EOL "as_given", they stay as they are, but that a
// str_replace takes over the line ends of what it replaces, as [Edit] does. An OldStr that holds "\r" is taken at its
// word: nothing is fitted then. A byte order mark stays where it is. Symbolic links are followed, never replaced.
//
// By default one edit that cannot be made fails the step, and the *editFilesError lists all of them in all files.
// With OnError "continue" a file in which an edit fails stays as it was, and the others are edited; the step succeeds
// even if that leaves none, with a warning for each such file: Expect is for those who want to know. Reports has each
// file either way.
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

// LineEdit is one edit of an [EditFiles]. The required fields depend on Command; unused fields must have their zero
// values. [CreateText], [ReplaceText], [InsertAfter], [AppendText] and [ReplaceLines] make them.
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

// CreateText returns an edit that makes a file, which must not exist.
func CreateText(text string) LineEdit { return LineEdit{Command: commandCreate, FileText: &text} }

// ReplaceText returns an edit that replaces a text, which must occur once.
func ReplaceText(oldText, newText string) LineEdit {
	return LineEdit{Command: commandReplace, OldStr: oldText, NewStr: &newText}
}

// InsertAfter returns an edit that puts text after a line, or with 0 at the top of the file.
func InsertAfter(line int, text string) LineEdit {
	return LineEdit{Command: commandInsert, InsertLine: &line, NewStr: &text}
}

// AppendText returns an edit that puts text at the end of a file, in a line of its own.
func AppendText(text string) LineEdit { return LineEdit{Command: commandAppend, NewStr: &text} }

// ReplaceLines returns an edit that replaces the lines start to end, both included; an empty text deletes them.
func ReplaceLines(start, end int, text string) LineEdit {
	return LineEdit{Command: commandReplaceLines, StartLine: start, EndLine: end, NewStr: &text}
}

// WriteFiles returns a step's action that makes each of the files, or replaces its text if it exists: path to text. A
// file that has its text already is not touched. A symbolic link is followed. WithMode gives the files a mode.
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
