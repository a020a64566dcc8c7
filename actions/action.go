package actions

import (
	"context"
	"fmt"
	"time"
)

// Action is one kind of step together with its parameters. It is a struct or a pointer to a struct. The executor copies
// it and expands templates in the copy, so Run sees final values. Run may not keep them.
//
// Run works only on c.FS (the stage). It is called once for each attempt of a step, from one goroutine, and must return
// soon after ctx is done. By then everything that it has started must have ended: later writes through c.FS are
// refused. A panic in Run becomes the step's error.
type Action interface {
	Spec() Spec
	Run(ctx context.Context, c *Call) (Outcome, error)
}

// Validator is implemented by actions that can find mistakes in their parameters before anything runs. Validate is
// called on values whose templates are not yet expanded: it must accept a string for which [Check.Templated] is true.
// It can pass computed values to Run, see [Check.Keep].
type Validator interface {
	Validate(c *Check)
}

// Problem is a mistake in the parameters of an action.
type Problem struct {
	Param   string // JSON pointer below "params", such as "/patterns/0/pattern"
	Code    string // stable, such as "bad_pattern"
	Message string
	Hint    string // the text to write instead, if it is known
	// Err is the message and the hint as an error. It is nil if all doors of the project show the same words.
	Err error
}

// Check collects the findings of a [Validator].
type Check struct {
	// Problems are the problems found so far.
	Problems []Problem
	// Warnings are about parameters that are valid but may be meant differently. They end up in the Warnings of a decoded
	// pipeline.
	Warnings []Problem
	// IsTemplated reports whether a string will be expanded before the action runs. Nil means that no string will.
	IsTemplated func(s string) bool
	// IsBound reports whether a template replaces the parameter at a JSON pointer below "params", so that its value
	// in Go has no meaning yet. Nil means that no parameter is a template.
	IsBound func(param string) bool
	// HasInput means that the step takes files from another step.
	HasInput bool
	// Keep is a value for Run to find in [Call.Kept], such as a compiled pattern, so that Run need not compute it again.
	// It belongs to the pipeline. Concurrent runs share it, so it must not change. Nil means nothing.
	Keep any
}

// Templated reports whether s will be expanded before the action runs, so that it cannot be checked yet.
func (c *Check) Templated(s string) bool { return c.IsTemplated != nil && c.IsTemplated(s) }

// bound reports whether a template replaces the parameter at the pointer.
func (c *Check) bound(param string) bool { return c.IsBound != nil && c.IsBound(param) }

// Problemf adds a problem with the parameter.
func (c *Check) Problemf(param, code, hint, format string, args ...any) {
	c.Problems = append(c.Problems,
		Problem{Param: param, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// Toucher is implemented by actions whose parameters determine the paths that they read and write, apart from files of
// other steps. If known is false, the step never runs in parallel with other steps.
type Toucher interface {
	Touches() (reads, writes []string, known bool)
}

// Input is the source of an action's files.
type Input uint8

// The ways in which an action gets its files.
const (
	// InputOptional: input_from and a parameter "files", if the action has one, are both allowed, and neither is required.
	InputOptional Input = iota
	// InputFiles: either input_from or the parameter "files" is required.
	InputFiles
	// InputMany: input_from_all with at least two steps is required.
	InputMany
	// InputNone: the action does not use files. An input step only sets the order, and validation warns of it.
	InputNone
)

// Spec describes an action. Name and Summary are required.
type Spec struct {
	// Name is the word in a step's "action": letters, digits, '_', '.' and '-', a letter first.
	Name string
	// Summary is one line for people, models and schemas.
	Summary string
	// ReadOnly means that the action never writes. False, the zero value, is the safe choice: the step counts as a
	// writing step, and a read-only host refuses it. A ReadOnly action gets a file system that refuses writes.
	ReadOnly bool
	// Input is the source of the files.
	Input Input
	// Data means that the action returns [Outcome.Data], so that templates can reach into it by paths.
	Data bool
	// Context means that the parameters may refer to the step before, {{prev.output}}, and to the run, {{run.id}}.
	Context bool
	// Costs means that an attempt may cost money, reported by [Call.Spend]. It does not begin once the budget is
	// spent.
	Costs bool
	// Outside means that the action has effects outside of the tree, which cannot be undone. A dry run and a plan skip
	// such a step, and the plan then cannot be committed. Among parallel steps it runs after all steps before it and
	// before all steps after it.
	Outside bool
	// Exclusive means that no other step may run at the same time.
	Exclusive bool
	// Retries is the number of further attempts of a visit, 0 to 100, for steps that do not set it.
	Retries int
}

// Outcome is the result of a step's work. Lists may be in any order; the executor sorts lists without an order of their
// own.
type Outcome struct {
	// Files are the files matched, read, changed or created; the step's files_matched.
	Files []string
	// Content maps a path to text that the step read.
	Content map[string]string
	// Aggregated is the step's aggregated_content.
	Aggregated string
	// Output is a text of the action for people and for later steps. It is kept even if the step fails.
	Output string
	// Data is the structured result of the action: nil, bool, numbers, strings, and lists and objects of these of any Go
	// type, nested at most 100 deep. Anything else fails the step. With Output it counts towards the shown bytes, 64 bytes
	// for each value, see [Limits]. It is kept even if the step fails. The executor copies it: results and templates have
	// int64 for whole numbers that fit, float64, []any and map[string]any.
	Data any
	// Edits is the number of replacements made.
	Edits int
	// Counts maps a path (or, for diff, "changes") to a number.
	Counts map[string]int
	// Renames maps old paths to new ones.
	Renames map[string]string
	// Reports describe single files: hashes, times, failures. Each counts as 128 shown bytes and its texts.
	Reports []FileReport
	// FilesModified and FilesSkipped are, for pattern_replace, the numbers of changed files and of other files that match
	// its glob. Other files have no match, look binary or fail. Nil for other actions.
	FilesModified, FilesSkipped *int
	// LeftOut counts the chosen files that the step did not look into.
	LeftOut []LeftOut
	// Mode is the kind of pattern that the action chose, if it had to choose: "literal" or "regex".
	Mode string
}

// change records the number of replacements in a file, if it is not 0.
func (o *Outcome) change(file string, edits int) {
	if edits > 0 {
		o.Files = append(o.Files, file)
		o.Counts[file] = edits
		o.Edits += edits
	}
}

// FileReport is the report of a step on a file.
type FileReport struct {
	Path    string `json:"path"`
	Success bool   `json:"success"`
	// Error is the message of the failure, "" for success.
	Error string `json:"error,omitempty"`
	// Cause is a code of the failure for programs: "already_applied" (the edit's text is already there), "exists",
	// "is_directory", "no_hash", "not_found", "not_recursive", "not_unique" (a text), "out_of_range" (lines),
	// "outside_root", "permission_denied", "read_only" (by the rules of the host), "stale" (a hash) or "text_not_found".
	// It is "" for success and for other failures. It is not part of the JSON of a result.
	Cause        string    `json:"-"`
	ContentHash  string    `json:"content_hash,omitempty"` // SHA-256 of the whole file
	RangeHash    string    `json:"range_hash,omitempty"`   // SHA-256 of the lines read, with their line ends
	RangeHashes  []string  `json:"range_hashes,omitempty"` // the same for each range, if several were read
	LastModified time.Time `json:"last_modified,omitzero"` // UTC
	// Kind, Size, Mode and Target are for list. Kind is "file", "dir", "symlink" or "other".
	Kind   string `json:"kind,omitempty"`
	Size   *int64 `json:"size,omitempty"`   // of a file, in bytes
	Mode   string `json:"mode,omitempty"`   // permissions in octal, such as "0644", with the setuid, setgid and sticky bits
	Target string `json:"target,omitempty"` // where a symbolic link points
	// EditsApplied, EditsFailed and FailedEdits are for steps that have a list of edits for each file. Nil counts are left
	// out.
	EditsApplied *int         `json:"edits_applied,omitempty"`
	EditsFailed  *int         `json:"edits_failed,omitempty"`
	FailedEdits  []FailedEdit `json:"failed_edits,omitempty"`
	// Replacements, WouldModify and Preview are for pattern_replace; the last two only in a dry run.
	Replacements *int   `json:"replacements,omitempty"`
	WouldModify  *bool  `json:"would_modify,omitempty"`
	Preview      string `json:"preview,omitempty"`
}

// FailedEdit is an edit of a file that failed.
type FailedEdit struct {
	Index   int    `json:"index"` // in the list of edits of the file, from 0
	Command string `json:"command"`
	Error   string `json:"error"`
}

// Result is the outcome of an earlier step that an action gets input from. It is empty if the step was skipped or has
// failed.
type Result struct {
	Step string
	Outcome
}
