package actions

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/patch/placing"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// Patch applies a patch: a unified diff, also from git, the format named apply_patch, or blocks of a text to search and
// its replacement.
//
// The lines that a hunk quotes or removes must be in the file at the stated line, shifted as much as the hunk before
// it, or at exactly one other place. Otherwise the hunk is refused. A quoted line is never rewritten, whatever
// Tolerance allows: only added and removed lines change the file. New lines get the line ends of the lines around them,
// unless the patch itself has both kinds. A hunk whose new lines are already there counts as done, with a warning.
//
// The sections of one commit in a unified diff refer to the tree before the commit, so files can swap their names.
// Later commits, later sections for the same file, and the sections of the other formats work on the result of the
// sections before. Files are created, deleted into the trash, renamed, copied and made executable, and symbolic links
// are created, with the same checks as for other actions. Nothing is ever written through a link. Binary patches of git
// must match the bytes of the file exactly.
//
// By default one hunk without a place fails the step, and the *patchError lists all failures in all files. With OnError
// "continue" a file with a failed hunk stays unchanged, and the other files are patched.
type Patch struct {
	Text      string `json:"patch" param:"required,whole,bytes" doc:"The patch, at most 16 MiB. A template must be the whole patch."`
	Format    string `json:"format,omitempty" enum:"auto,unified,apply_patch,search_replace" doc:"Format of the patch. Default: auto, which detects it."`
	Path      string `json:"path,omitempty" doc:"The file of hunks without a file name."`
	Directory string `json:"directory,omitempty" doc:"Directory from which the names in the patch count. Default: the root of the tree."`
	Strip     *int   `json:"strip,omitempty" param:"count" doc:"Leading parts of the names to remove. Default: 1 for names with a/ and b/ and diffs of git, else 0."`
	Tolerance string `json:"tolerance,omitempty" enum:"none,trailing_space,indent,typography" doc:"Differences to ignore: none, white space at line ends, also a constant shift of indentation, also typographic quotes, dashes and spaces. Default: none for unified diffs, else typography."`
	Fuzz      int    `json:"fuzz,omitempty" param:"count" doc:"For unified diffs: context lines at either end of a hunk that may differ, 0 to 3."`
	Ambiguous string `json:"ambiguous,omitempty" enum:"refuse,nearest" doc:"For unified diffs: a hunk that fits several places is refused, or goes to the nearest. Default: refuse."`
	Reverse   bool   `json:"reverse,omitempty" doc:"For unified diffs: apply the patch in reverse."`
	Recount   bool   `json:"recount,omitempty" doc:"For unified diffs: count the lines of the last hunk and ignore its numbers; the patch may be cut."`
	Overwrite bool   `json:"overwrite,omitempty" doc:"Replace existing files where the patch creates files."`
	Binary    bool   `json:"binary,omitempty" doc:"Apply hunks to files that look binary; by default an error."`
	OnError   string `json:"on_error,omitempty" enum:"stop,continue" doc:"A file with a failure fails the step (stop) or is reported (continue). Default: stop."`
}

const codeBadPatch = "bad_patch"

// mostFuzz is the number of quoted lines that may differ.
const mostFuzz = 3

// Spec implements [Action].
func (Patch) Spec() Spec {
	const summary = "Apply a patch: a unified or git diff, apply_patch, or search/replace blocks"
	return Spec{Name: "patch", Summary: summary, Input: InputNone}
}

// keptPatch is the patch that Validate has parsed, with its text and options.
type keptPatch struct {
	text string
	opt  patch.Options
	read *patch.Patch
}

// maxKeptPatch is the size, in bytes, up to which a run uses the patch that Validate has parsed.
const maxKeptPatch = 1 << 20

// Validate implements [Validator].
func (p Patch) Validate(c *Check) {
	if p.Fuzz > mostFuzz {
		c.problemOf("/fuzz", codeBadRange, "", p.badFuzz())
	}
	if p.Strip != nil && *p.Strip < 0 {
		c.problemOf("/strip", codeBadRange, "", p.badStrip())
	}
	isTemplate := func(text string) bool {
		return c.Templated(text) && strings.HasPrefix(strings.TrimSpace(text), "{{")
	}
	if p.Text == "" || isTemplate(p.Text) || c.bound("/patch") || c.bound("/strip") || c.bound("/recount") ||
		c.Templated(p.Format) || c.Templated(p.Path) {
		return
	}
	opt, err := p.options()
	if err != nil {
		return // the error is reported above, or by a tag
	}
	read, err := p.read(opt)
	if err == nil {
		if len(p.Text) <= maxKeptPatch {
			c.Keep = &keptPatch{p.Text, opt, read}
		}
		if read.Format != patch.Unified {
			p.onlyUnified(c)
		}
		return
	}
	problem := Problem{Param: "/patch", Code: codeBadPatch, Message: err.Error(), Err: err}
	if wrong, ok := errors.AsType[*patchSyntaxError](err); ok && len(wrong.Problems) > 0 && wrong.Problems[0].Hint != "" {
		first := wrong.Problems[0]
		text := wrong.message(first.Hint) // the hint is a separate field of the problem
		problem.Message, problem.Hint, problem.Err = text.Error(), first.Hint, worded.Errorf("%v: %v", text, first.inParts())
	}
	c.Problems = append(c.Problems, problem)
}

func (p Patch) badFuzz() *worded.Error {
	return worded.Errorf("%v is %d, and can be 0 to %d",
		wording.Part{Kind: kinds.Param, Text: "fuzz", Value: "fuzz"}, p.Fuzz, mostFuzz)
}

func (p Patch) badStrip() *worded.Error {
	return worded.Errorf("%v is %d, and cannot be less than 0",
		wording.Part{Kind: kinds.Param, Text: "strip", Value: "strip"}, *p.Strip)
}

// onlyUnified refuses parameters that mean nothing in the format of the patch.
func (p Patch) onlyUnified(c *Check) {
	for _, f := range []struct {
		name  string
		given bool
	}{{"fuzz", p.Fuzz != 0}, {"ambiguous", p.Ambiguous != "" && p.Ambiguous != "refuse"}, {"reverse", p.Reverse},
		{"recount", p.Recount}} {
		if f.given && !c.bound("/"+f.name) {
			c.problemOf("/"+f.name, codeUnusedParam, "leave it out",
				worded.Errorf("%v is only for unified diffs",
					wording.Part{Kind: kinds.Param, Text: "'" + f.name + "'", Value: f.name}))
		}
	}
}

var patchFormats = map[string]patch.Format{
	"": patch.Auto, "auto": patch.Auto, "unified": patch.Unified, "apply_patch": patch.ApplyPatch,
	"search_replace": patch.SearchReplace,
}

// options returns the options for reading the text.
func (p Patch) options() (patch.Options, error) {
	format, ok := patchFormats[p.Format]
	if !ok {
		return patch.Options{}, fmt.Errorf("format '%s' is not auto, unified, apply_patch or search_replace", p.Format)
	}
	opt := patch.Options{Format: format, Path: p.Path, Strip: -1, Recount: p.Recount}
	if p.Strip != nil {
		if opt.Strip = *p.Strip; opt.Strip < 0 {
			return opt, p.badStrip()
		}
	}
	return opt, nil
}

// read reads the text. The error is a *patchSyntaxError or a *LimitError.
func (p Patch) read(opt patch.Options) (*patch.Patch, error) {
	read, problems, err := patch.Parse(p.Text, opt)
	if err != nil {
		return nil, patchLimit(err)
	}
	if len(problems) > 0 {
		wrong := &patchSyntaxError{}
		for _, q := range problems {
			wrong.Problems = append(wrong.Problems, patchProblem{
				Line: q.Line, Message: q.Text, Hint: q.Hint, advice: q.Advice,
			})
		}
		return nil, wrong
	}
	return read, nil
}

// Touches implements [Toucher].
func (p Patch) Touches() (reads, writes []string, known bool) {
	opt, err := p.options()
	if err != nil {
		return nil, nil, false
	}
	read, err := p.read(opt)
	if err != nil {
		return nil, nil, false
	}
	for _, f := range read.Files {
		reads = append(reads, p.below(f.Old), p.below(f.New))
	}
	slices.Sort(reads)
	reads = slices.Compact(reads)
	return reads, reads, true
}

// below returns a name relative to the root.
func (p Patch) below(name string) string {
	if p.Directory == "" || path.Clean(p.Directory) == "." {
		return name
	}
	return p.Directory + "/" + name // not path.Join: a path that leads outside must be seen
}

// settings returns the settings for placing hunks.
func (p Patch) settings(format patch.Format) (placing.Settings, error) {
	s := placing.Settings{Format: format, Fuzz: p.Fuzz, Nearest: p.Ambiguous == "nearest"}
	switch p.Tolerance {
	case "":
		if format != patch.Unified {
			s.Tolerance = placing.Typography
		}
	case "none":
	case "trailing_space":
		s.Tolerance = placing.TrailingSpace
	case "indent":
		s.Tolerance = placing.Indent
	case "typography":
		s.Tolerance = placing.Typography
	default:
		return s, fmt.Errorf("tolerance '%s' is not none, trailing_space, indent or typography", p.Tolerance)
	}
	if p.Fuzz < 0 || p.Fuzz > mostFuzz {
		return s, p.badFuzz()
	}
	return s, nil
}

// Run implements [Action]. Files and Counts of the outcome are the changed files, with the number of hunks; a change
// without hunks, such as a new mode, counts as one.
func (p Patch) Run(ctx context.Context, c *Call) (Outcome, error) {
	opt, err := p.options()
	if err != nil {
		return Outcome{}, err
	}
	read := (*patch.Patch)(nil)
	if kept, ok := c.Kept.(*keptPatch); ok && kept.text == p.Text && kept.opt == opt {
		read = kept.read
	} else if read, err = p.read(opt); err != nil {
		return Outcome{}, err
	}
	if read.Format != patch.Unified {
		// A text from a template could not be checked before.
		var check Check
		if p.onlyUnified(&check); len(check.Problems) > 0 {
			return Outcome{}, check.Problems[0].Err
		}
	}
	w := &patching{Patch: p, c: c, format: read.Format, view: newPatchView()}
	if w.settings, err = p.settings(read.Format); err != nil {
		return Outcome{}, err
	}
	for _, q := range read.Warnings {
		w.warn("line %d of the patch: %s", q.Line, q.Text)
	}
	if read.Format == patch.Unified && p.Reverse {
		read = read.Reverse()
	}
	if err := w.plan(ctx, read); err != nil {
		return Outcome{}, err
	}
	if err := w.stage(ctx); err != nil {
		return Outcome{}, err
	}
	return w.outcome()
}
