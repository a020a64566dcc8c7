package actions

import (
	"context"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/match"
)

// Edit replaces every occurrence of a text in files, from left to right without overlaps.
//
// Only the bytes of the matches change: line ends, byte order marks, invalid UTF-8, a missing final newline and the
// mode of the file remain. In a literal OldText without "\r", "\n" also matches "\r\n". The line ends of NewText then
// become the matched line ends, one by one; further line ends become the last matched one. If the match has no line
// end, they become the end of its line. Symbolic links are followed, never replaced. A text without a match is not an
// error: the step warns, with the nearest lines. Expect on the step makes it an error.
//
// With Encoding, files are decoded, edited and encoded again; bytes outside of the matches stay. A file cannot be
// edited if it is not a text in the encoding, or if NewText has a character that the encoding lacks.
//
// By default the first file that cannot be edited, in the order of the list, fails the step. With OnError "continue"
// such a file stays unchanged, with a warning and the reason in Reports, and the other files are edited. A read-only
// file is such a file too, unless the pipeline has Force.
type Edit struct {
	Files      []string `json:"files,omitempty" doc:"Files to edit. Leave it out if an earlier step gives them."`
	OldText    string   `json:"old_text" param:"required" doc:"Text to find."`
	NewText    string   `json:"new_text" param:"required,empty" doc:"Replacement; empty deletes. In mode regex, $1 and ${name} are groups, $$ a dollar sign, and backslashes begin escapes such as \\n; in mode structural, :[x] is hole x."`
	Mode       string   `json:"mode,omitempty" enum:"literal,regex,structural" doc:"Kind of pattern; structural as in search. Default: literal."`
	Language   string   `json:"language,omitempty" doc:"Language of the files, in mode structural. Default: by their names."`
	IgnoreCase bool     `json:"ignore_case,omitempty" doc:"Ignore the case of letters."`
	Encoding   string   `json:"encoding,omitempty" enum:"utf-8,auto,utf-16le,utf-16be,latin1" doc:"Encoding of the files; auto detects UTF-16 by its byte order mark. Default: utf-8."`
	// PreserveCase replaces all spellings of the words of OldText, see [CaseVariants]. It requires mode literal.
	PreserveCase bool `json:"preserve_case,omitempty" doc:"Also replace oldName, OldName, OLD_NAME and so on, with new_text in the same case."`
	// MaxPerFile limits the matches to replace in each file; the first matches count. Zero means all.
	MaxPerFile int `json:"max_per_file,omitempty" param:"count" doc:"Most matches to replace in a file. Default: all."`
	// MaxTotal limits the matches to replace in all files; the first matches in the order of the list count. Zero means
	// all.
	MaxTotal int    `json:"max_total,omitempty" param:"count" doc:"Most matches to replace in all files. Default: all."`
	OnError  string `json:"on_error,omitempty" enum:"stop,continue" doc:"A file with a failure fails the step (stop) or is reported (continue). Default: stop."`
	Binary   bool   `json:"binary,omitempty" doc:"Also edit binary files."`
}

// Spec implements [Action].
func (Edit) Spec() Spec {
	return Spec{Name: "edit", Summary: "Replace a text or a regular expression in files", Input: InputFiles}
}

// Validate implements [Validator].
func (e Edit) Validate(c *Check) {
	if e.PreserveCase && (e.Mode == "regex" || e.Mode == structuralMode || e.IgnoreCase) {
		c.Problemf("/preserve_case", codeUnusedParam, "leave out mode and ignore_case",
			"preserve_case writes the text in all ways itself")
	}
	p := checkPattern(c, "/old_text", e.OldText, e.Mode, match.Literal, e.flags())
	checkLanguage(c, e.Language, e.Mode == structuralMode || c.Templated(e.Mode))
	if p != nil && p.Mode() != match.Literal {
		checkTemplate(c, "/new_text", e.NewText, p)
	}
}

func (e Edit) flags() match.Flags {
	return match.Flags{IgnoreCase: e.IgnoreCase, Language: e.Language}
}

// Touches implements [Toucher].
func (e Edit) Touches() (reads, writes []string, known bool) { return e.Files, e.Files, true }

// Run implements [Action]. The outcome has the changed files, and counts replacements that changed bytes.
func (e Edit) Run(ctx context.Context, c *Call) (Outcome, error) {
	r := replacing{names: kinds.EditText, binary: e.Binary, onError: e.OnError}
	var err error
	if r.charset, err = encodingOf(e.Encoding); err != nil {
		return Outcome{}, err
	}
	if e.PreserveCase {
		err = r.addTable(c, "old_text", CaseVariants(e.OldText, e.NewText), false)
	} else {
		err = r.add(c, "old_text", e.OldText, e.Mode, e.flags(), e.NewText)
	}
	if err != nil {
		return Outcome{}, err
	}
	r.rules.List[0].Most, r.total = e.MaxPerFile, e.MaxTotal
	return r.run(ctx, c)
}
