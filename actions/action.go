package actions

import (
	"context"
	"fmt"
	"time"
)

// Action is one kind of step together with its parameters. It is a struct or a pointer to one; the executor copies it
// before it expands templates in it, so Run sees final values and may not keep them.
//
// Run works only on c.FS (the stage). It is called once for each attempt of a step, from one goroutine, and must
// return soon after ctx is done. Everything that it has started must have ended then: later writes through c.FS are
// refused. A panic in it becomes the step's error.
type Action interface {
	Spec() Spec
	Run(ctx context.Context, c *Call) (Outcome, error)
}

// Validator is implemented by actions that can find mistakes in their parameters before anything runs. It is called
// on values whose templates are not yet expanded: it must accept a string for which [Check.Templated] is true. It can
// pass computed values to Run, see [Check.Keep].
type Validator interface {
	Validate(c *Check)
}

// Problem is one mistake in the parameters of an action.
type Problem struct {
	Param   string // JSON pointer below "params", such as "/patterns/0/pattern"
	Code    string // stable, such as "bad_pattern"
	Message string
	Hint    string // what to write instead, if that is known
	// Err is the message and the hint as an error, nil if no door of the project words them differently.
	Err error
}

// Check collects the findings of a [Validator].
type Check struct {
	// Problems are those found so far.
	Problems []Problem
	// Warnings are about parameters that are valid and may be read otherwise than they were meant. A pipeline that was
	// decoded has them in its Warnings.
	Warnings []Problem
	// IsTemplated reports whether a string will be expanded before the action runs. Nil means that none is.
	IsTemplated func(s string) bool
	// IsBound reports whether a template replaces the parameter at a JSON pointer below "params", so that its value
	// in Go has no meaning yet. Nil means that no parameter is a template.
	IsBound func(param string) bool
	// HasInput means that the step takes files from another step.
	HasInput bool
	// Keep is what Validate wants Run to find in [Call.Kept], such as a compiled pattern, so that it is not worked out
	// again. It belongs to the pipeline, whose runs share it, also at the same time: it must not change any more. Nil
	// means nothing.
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

// Toucher is implemented by actions whose parameters determine the paths that they read and write, apart from files
// of other steps. If known is false, the step never runs in parallel with others.
type Toucher interface {
	Touches() (reads, writes []string, known bool)
}

// Input is the source of an action's files.
type Input uint8

// The ways an action can take files.
const (
	// InputOptional: input_from and a parameter "files", if the action has one, are both allowed, neither is needed.
	InputOptional Input = iota
	// InputFiles: either input_from or the parameter "files" is needed.
	InputFiles
	// InputMany: input_from_all with at least two steps is needed.
	InputMany
	// InputNone: the action takes no files. An input step only sets the order, and validation warns of it.
	InputNone
)

// Spec describes an action. Name and Summary are needed.
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
	// Outside means that the action acts outside of the tree, where nothing is undone. Such a step is skipped by a
	// dry run and by a plan, which cannot be committed then; in parallel it runs after all steps before it and before
	// all after it.
	Outside bool
	// Exclusive means that no other step may run at the same time.
	Exclusive bool
	// Retries is how many attempts a visit has after the first where the step does not say, 0 to 100.
	Retries int
}

// Outcome is the work of a step. Lists may be in any order; the executor sorts lists without an order of their own.
type Outcome struct {
	// Files are the files matched, read, changed or made; the step's files_matched.
	Files []string
	// Content maps a path to text that the step read.
	Content map[string]string
	// Aggregated is the step's aggregated_content.
	Aggregated string
	// Output is a text that the action has for people and for the steps after it; it counts also beside an error.
	Output string
	// Data is what the action has found or made, as JSON has it: nil, bool, numbers, strings, and lists and objects of
	// these of any Go type, nested at most 100 deep. With Output it counts as what the step shows, 64 bytes for each
	// value, see [Limits]. Anything else fails the step. It counts also beside an error. The executor copies it:
	// results and templates have int64 for whole numbers that fit, float64, []any and map[string]any.
	Data any
	// Edits is the number of replacements made.
	Edits int
	// Counts maps a path (or, for diff, "changes") to a number.
	Counts map[string]int
	// Renames maps old paths to new ones.
	Renames map[string]string
	// Reports say more of single files: hashes, times, failures. They count as what the step shows, each 128 bytes and
	// its texts.
	Reports []FileReport
	// FilesModified and FilesSkipped count, for pattern_replace, the files that its glob takes: those it changes, and
	// the others, whether nothing matches, they look binary or they fail. Nil for other actions.
	FilesModified, FilesSkipped *int
	// LeftOut counts the files that the step chose and did not look into.
	LeftOut []LeftOut
	// Mode describes how a pattern was understood, where that was left to the action: "literal" or "regex".
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
	// Cause is a word for the failure, for programs: "already_applied" (the text is there, as the edit writes it),
	// "exists", "is_directory", "no_hash", "not_found", "not_recursive", "not_unique" (a text), "out_of_range" (lines),
	// "outside_root", "permission_denied", "read_only" (by the rules of the host), "stale" (a hash) or
	// "text_not_found". It is "" for success and for other failures, and is not part of the JSON of a result.
	Cause        string    `json:"-"`
	ContentHash  string    `json:"content_hash,omitempty"` // SHA-256 of the whole file
	RangeHash    string    `json:"range_hash,omitempty"`   // SHA-256 of the lines read, with their line ends
	RangeHashes  []string  `json:"range_hashes,omitempty"` // the same of each range, where several were read
	LastModified time.Time `json:"last_modified,omitzero"` // UTC
	// Kind, Size, Mode and Target are for list. Kind is "file", "dir", "symlink" or "other".
	Kind   string `json:"kind,omitempty"`
	Size   *int64 `json:"size,omitempty"`   // of a file, in bytes
	Mode   string `json:"mode,omitempty"`   // permissions in octal, such as "0644", with the setuid, setgid and sticky bits
	Target string `json:"target,omitempty"` // where a symbolic link points
	// EditsApplied, EditsFailed and FailedEdits are for steps that have a list of edits a file. Nil counts are left
	// out.
	EditsApplied *int         `json:"edits_applied,omitempty"`
	EditsFailed  *int         `json:"edits_failed,omitempty"`
	FailedEdits  []FailedEdit `json:"failed_edits,omitempty"`
	// Replacements, WouldModify and Preview are for pattern_replace; the last two only in a dry run.
	Replacements *int   `json:"replacements,omitempty"`
	WouldModify  *bool  `json:"would_modify,omitempty"`
	Preview      string `json:"preview,omitempty"`
}

// FailedEdit is one edit of a file that could not be made.
type FailedEdit struct {
	Index   int    `json:"index"` // in the list of edits of the file, from 0
	Command string `json:"command"`
	Error   string `json:"error"`
}

// Result is the outcome of an earlier step that an action takes input from. It is empty if the step was skipped or
// has failed.
type Result struct {
	Step string
	Outcome
}
