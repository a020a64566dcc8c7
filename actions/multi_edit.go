package actions

import (
	"context"
	"fmt"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/match"
)

// TextEdit is an edit of a [MultiEdit].
type TextEdit struct {
	OldText string `json:"old_text" param:"required" doc:"Text to find."`
	NewText string `json:"new_text" param:"required,empty" doc:"Replacement; empty deletes."`
}

// MultiEdit makes several replacements in each file. Each works like a literal [Edit].
//
// In mode "sequential", the default, each edit works on the result of the edits before it. In mode "simultaneous" all
// edits work on the original files, so x and y can be swapped; two edits of the same bytes fail the step. In mode
// "longest" all edits also work on the original files, and the longest match at a place wins, as for a list of words.
// Line ends in old_text then match only themselves.
type MultiEdit struct {
	Files []string   `json:"files,omitempty" doc:"Files to edit. Leave it out if an earlier step gives them."`
	Edits []TextEdit `json:"edits" param:"required" doc:"The edits, in order."`
	Mode  string     `json:"mode,omitempty" enum:"sequential,simultaneous,longest" doc:"sequential: each edit sees the result of the edits before; simultaneous: all see the old files; longest: also, the longest text wins. Default: sequential."`
	// Structural reads the texts of all edits like an [Edit] in mode structural. It cannot be combined with mode longest.
	Structural bool   `json:"structural,omitempty" doc:"Structural patterns, as in mode structural of edit."`
	Language   string `json:"language,omitempty" doc:"Language of the files, in mode structural. Default: by their names."`
	IgnoreCase bool   `json:"ignore_case,omitempty" doc:"Ignore the case of letters."`
	Encoding   string `json:"encoding,omitempty" enum:"utf-8,auto,utf-16le,utf-16be,latin1" doc:"Encoding of the files; auto detects UTF-16 by its byte order mark. Default: utf-8."`
	OnError    string `json:"on_error,omitempty" enum:"stop,continue" doc:"A file with a failure fails the step (stop) or is reported (continue). Default: stop."`
	Binary     bool   `json:"binary,omitempty" doc:"Also edit binary files."`
}

// Spec implements [Action].
func (MultiEdit) Spec() Spec {
	return Spec{Name: "multi_edit", Summary: "Make several text replacements in files", Input: InputFiles}
}

// Validate implements [Validator].
func (m MultiEdit) Validate(c *Check) {
	if len(m.Edits) > maxEdits {
		c.Problemf("/edits", codeTooMany, "split the step", "too many edits (max %d, got %d)", maxEdits, len(m.Edits))
		return
	}
	checkLanguage(c, m.Language, m.Structural)
	if !m.Structural {
		return
	}
	if m.Mode == "longest" {
		c.Problemf("/structural", codeUnusedParam, "use mode sequential or simultaneous",
			"mode longest compares texts alone")
	}
	for i, e := range m.Edits {
		at := fmt.Sprintf("/edits/%d", i)
		p := checkPattern(c, at+"/old_text", e.OldText, structuralMode, match.Literal, m.flags())
		checkTemplate(c, at+"/new_text", e.NewText, p)
	}
}

func (m MultiEdit) flags() match.Flags {
	return match.Flags{IgnoreCase: m.IgnoreCase, Language: m.Language}
}

// Touches implements [Toucher].
func (m MultiEdit) Touches() (reads, writes []string, known bool) { return m.Files, m.Files, true }

// Run implements [Action]. The outcome is like the outcome of [Edit].
func (m MultiEdit) Run(ctx context.Context, c *Call) (Outcome, error) {
	r := replacing{names: kinds.EditText, binary: m.Binary, onError: m.OnError}
	var err error
	if r.charset, err = encodingOf(m.Encoding); err != nil {
		return Outcome{}, err
	}
	switch m.Mode {
	case "", "sequential":
	case "simultaneous":
		r.rules.Simultaneous = true
	case "longest":
		if err := r.addTable(c, "old_text of the edits", m.Edits, m.IgnoreCase); err != nil {
			return Outcome{}, err
		}
		return r.run(ctx, c)
	default:
		return Outcome{}, fmt.Errorf("unsupported multi_edit mode '%s'", m.Mode)
	}
	mode := match.Literal
	if m.Structural {
		mode = match.Structural
	}
	for i, e := range m.Edits {
		label := fmt.Sprintf("old_text of edit %d", i)
		if err := r.add(c, label, e.OldText, mode.String(), m.flags(), e.NewText); err != nil {
			return Outcome{}, err
		}
	}
	return r.run(ctx, c)
}
