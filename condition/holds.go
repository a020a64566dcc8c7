package condition

import (
	"errors"
	"fmt"
)

// StepFacts has the facts of a step for a condition. If neither Ran nor Skipped is true, the step has not been
// reached yet.
type StepFacts struct {
	Ran       bool // its action was run, with success or failure
	Succeeded bool
	Failed    bool
	Skipped   bool
	Files     int // the number of files found
	Count     int // the sum of its counts
}

// Facts gives conditions access to a run.
type Facts interface {
	// Step returns the known facts of a step, or false if no step has that id.
	Step(id string) (StepFacts, bool)
	// Exists reports whether a file or directory exists at a path, after the changes of the steps before; links are
	// followed. It fails if the path may not be read.
	Exists(path string) (bool, error)
	// Previous reports whether the step that was executed before has an error. ok is false if there was none.
	Previous() (failed, ok bool)
}

// errNoStep reports that a condition is about a step that the run does not have.
var errNoStep = errors.New("there is no such step")

// Holds reports whether the condition holds, and if not, the reason for a user, such as "condition has_matches(find) is
// false: step 'find' matched no files". The error is an error of f, or reports an unknown step, with the condition
// before it; then the result is unknown. The zero Condition holds and does not use f.
func (c Condition) Holds(f Facts) (ok bool, reason string, err error) {
	if c.IsZero() {
		return true, "", nil
	}
	switch {
	case c.typ == typePrevError:
		ok, reason = previousFailed(f)
	case c.typ.has("path"):
		ok, reason, err = c.fileHolds(f)
	default:
		ok, reason, err = c.stepHolds(f)
	}
	switch {
	case err != nil:
		return false, "", fmt.Errorf("condition %s: %w", c, err)
	case ok:
		return true, "", nil
	}
	return false, fmt.Sprintf("condition %s is false: %s", c, reason), nil
}

func (c Condition) fileHolds(f Facts) (ok bool, reason string, err error) {
	exists, err := f.Exists(c.path)
	if err != nil {
		return false, "", err
	}
	if exists {
		return c.typ == typeFileExists, fmt.Sprintf("'%s' exists", c.path), nil
	}
	return c.typ == typeFileNotExists, fmt.Sprintf("'%s' does not exist", c.path), nil
}

func previousFailed(f Facts) (holds bool, reason string) {
	if failed, ok := f.Previous(); ok {
		return failed, "the step before has no error"
	}
	return false, "no step was executed before"
}

// stepHolds returns the reason even if the condition holds.
func (c Condition) stepHolds(f Facts) (ok bool, reason string, err error) {
	s, found := f.Step(c.step)
	switch {
	case !found:
		return false, "", errNoStep
	case s.Skipped:
		return false, fmt.Sprintf("step '%s' was skipped", c.step), nil
	case !s.Ran:
		return false, fmt.Sprintf("step '%s' has not run", c.step), nil
	case s.Failed || !s.Succeeded:
		return c.typ == typeStepFailed, fmt.Sprintf("step '%s' failed", c.step), nil
	}
	switch c.typ {
	case typeHasMatches:
		return s.Files > 0, fmt.Sprintf("step '%s' matched no files", c.step), nil
	case typeNoMatches:
		return s.Files == 0, fmt.Sprintf("step '%s' matched %s", c.step, files(s.Files)), nil
	case typeCountGT:
		ok = s.Count > c.value
	case typeCountLT:
		ok = s.Count < c.value
	case typeCountEQ:
		ok = s.Count == c.value
	case typeStepSucceeded:
		return true, "", nil
	case typeStepFailed, typeFileExists, typeFileNotExists, typePrevError:
		return false, fmt.Sprintf("step '%s' succeeded", c.step), nil
	}
	return ok, fmt.Sprintf("the counts of step '%s' add up to %d", c.step, s.Count), nil
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
