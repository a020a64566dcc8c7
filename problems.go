package millrace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/params"
)

// The codes of problems. They are stable: programs may rely on them.
const (
	codeInvalidJSON  = "invalid_json"
	codeLargeJSON    = "json_too_large"
	codeDeepJSON     = "json_too_deep"
	codeUnknownField = "unknown_field"
	codeWrongType    = "wrong_type"
	codeNoName       = "missing_name"
	codeLongName     = "name_too_long"
	codeBadName      = "invalid_name"
	codeNoSteps      = "no_steps"
	codeManySteps    = "too_many_steps"
	codeDuplicateID  = "duplicate_id"
	codeBadID        = "invalid_id"
	codeLongID       = "id_too_long"
	codeNoAction     = "missing_action"
	codeBadAction    = "unknown_action"
	codeForwardRef   = interpolate.CodeForwardRef
	codeUnknownRef   = interpolate.CodeUnknownRef
	codeTwoInputs    = "two_inputs"
	codeNoInput      = "missing_input"
	codeUnusedInput  = "unused_input"
	codeBadCondition = "invalid_condition"
	codeBadExpect    = "invalid_expect"
	codeBadTemplate  = interpolate.CodeBadTemplate
	codeRepaired     = "repaired"
	codeTooMany      = params.CodeTooMany
)

// mostProblems is how many problems, and how many warnings, a pipeline reports. The rest is counted: a hostile text could have
// a million of them, and each takes the time to look for what may have been meant.
const mostProblems = 1000

// told keeps what follows from a problem from being reported too: everything at the pointer and below.
func (d *draft) told(pointer string) {
	if d.said == nil {
		d.said = make(map[string]bool)
	}
	d.said[pointer] = true
}

// isTold reports whether something was said of what is at the pointer, or of what that is in.
func (d *draft) isTold(pointer string) bool {
	if len(d.said) == 0 {
		return false
	}
	for {
		if d.said[pointer] {
			return true
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return false
		}
		pointer = pointer[:i]
	}
}

func (d *draft) problem(pointer, code, hint, format string, args ...any) {
	if d.isTold(pointer) {
		return
	}
	if d.isFull() {
		d.moreProblems++
		return
	}
	d.problems = append(d.problems, Problem{Pointer: pointer, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// isFull reports whether further problems are only counted, so that nobody has to find a hint for them.
func (d *draft) isFull() bool { return len(d.problems) >= mostProblems }

// sorted puts problems in the order of the steps, those of the pipeline itself first, and the number of those left out last.
// Within a step the order of checking stays. Each gets the id of its step.
func (d *draft) sorted(problems []Problem, more int, what string) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int { return stepOf(a.Pointer) - stepOf(b.Pointer) })
	for i := range problems {
		if at := stepOf(problems[i].Pointer); at >= 0 && at < len(d.steps) && validID(d.steps[at].ID) {
			problems[i].Step = d.steps[at].ID
		}
	}
	if more > 0 {
		problems = append(problems, Problem{Code: codeTooMany, Message: fmt.Sprintf("%d more %s", more, what)})
	}
	return problems
}

// stepOf returns the index of the step a pointer leads into, or -1.
func stepOf(pointer string) int {
	rest, ok := strings.CutPrefix(pointer, "/steps/")
	if !ok {
		return -1
	}
	digits, _, _ := strings.Cut(rest, "/")
	if i, err := strconv.Atoi(digits); err == nil {
		return i
	}
	return -1
}

func (d *draft) warn(pointer, code, format string, args ...any) {
	d.warning(Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (d *draft) warning(p Problem) {
	if len(d.warnings) >= mostProblems {
		d.moreWarnings++
		return
	}
	d.warnings = append(d.warnings, p)
}
