package definition

import (
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/params"
)

// checkFlow checks the jumps of a step, and its attempts.
func (d *Draft) checkFlow(i int, at string) {
	s := d.Steps[i]
	d.checkAhead(i, at, "on_fail", s.OnFail)
	d.checkAhead(i, at, "next", s.Next)
	d.checkWaysBack(i, at+"/retry_if")
	if n := s.maxRetries(); n < 0 || n > MaxRetries {
		d.problem(at+"/max_retries", CodeBadRetry, "", "step '%s': max_retries must be 0 to %d, got %d", s.ID,
			MaxRetries, n)
	}
	if n := s.MaxVisits; n != 0 {
		switch {
		case n < 2 || n > MaxVisits:
			d.badVisits(at, s.ID, n)
		case !d.isTarget(s.ID):
			d.problem(at+"/max_visits", CodeBadRetry, "leave it out",
				"step '%s': max_visits without a retry_if that names it", s.ID)
		}
	}
	d.checkTime(s.Timeout, at, s.ID, Timeout())
	d.checkTime(s.Backoff, at, s.ID, Backoff())
	d.checkPrevious(s, at)
	if d.Options.Parallel {
		for _, field := range s.jumps() {
			what := field
			if field == "condition" {
				what = "condition prev.error"
			}
			d.problem(at+"/"+field, CodeParallelJump, "leave parallel out",
				"step '%s': %s cannot be used with parallel", s.ID, what)
		}
	}
}

// checkAhead checks that a jump leads to a later step.
func (d *Draft) checkAhead(i int, at, field, to string) {
	if to == "" {
		return
	}
	switch j, ok := d.index[to]; {
	case !ok:
		d.problem(at+"/"+field, CodeUnknownRef, d.compiled[i].Texts.Nearest(to),
			"step '%s' references non-existent step '%s'", d.Steps[i].ID, to)
	case j <= i:
		d.problem(at+"/"+field, CodeBackwardJump, "use retry_if to go back",
			"step '%s': %s must name a later step, '%s' is not", d.Steps[i].ID, field, to)
	}
}

// checkWaysBack checks the retry_if of a step.
func (d *Draft) checkWaysBack(i int, at string) {
	s := d.Steps[i]
	if len(s.RetryIf) > MaxWaysBack {
		d.manyWays(at, s.ID, len(s.RetryIf))
		return
	}
	for k, w := range s.RetryIf {
		at := fmt.Sprintf("%s/%d", at, k)
		switch j, ok := d.index[w.Step]; {
		case w.Step == "":
			d.problem(at+"/step", CodeBadRetry, "name this step or an earlier one", "step '%s': retry_if needs a step",
				s.ID)
		case !ok:
			d.problem(at+"/step", CodeUnknownRef, d.compiled[i].Texts.Nearest(w.Step),
				"step '%s' references non-existent step '%s'", s.ID, w.Step)
		case j > i:
			d.problem(at+"/step", CodeForwardRetry, "use on_fail or next to go ahead",
				"step '%s': retry_if must name this step or an earlier one, '%s' comes later", s.ID, w.Step)
		default:
			if t := d.Steps[j]; t.MaxRetries != nil && *t.MaxRetries == 0 && t.MaxVisits == 0 {
				d.problem(at+"/step", CodeBadRetry, "give it max_visits",
					"step '%s' can never be retried: its max_retries is 0", t.ID)
			}
		}
		switch {
		case w.Keyword != "" && !w.When.IsZero():
			d.problem(at, CodeBadRetry, "use one of them", "step '%s': retry_if has both keyword and when", s.ID)
		case w.Keyword == "" && w.When.IsZero() && !d.decoded:
			d.problem(at, CodeBadRetry, "", "step '%s': retry_if needs a keyword or when", s.ID)
		case !utf8.ValidString(w.Keyword):
			d.problem(at+"/keyword", CodeBadRetry, "", "step '%s': keyword of retry_if is not valid UTF-8", s.ID)
		case !w.When.IsZero():
			d.checkWhen(i, at+"/when", w.When)
		}
	}
}

// checkWhen checks the condition of a backward jump, which may be about the step itself.
func (d *Draft) checkWhen(i int, at string, when condition.Condition) {
	if ref := when.StepRef(); ref != d.Steps[i].ID {
		d.checkRefs(i, at+"/step_ref", ref)
	}
	if d.templated(i, when.Path()) {
		d.problem(at+"/path", CodeBadTemplate, "ask for a fixed path, or for a step",
			"step '%s': the path in retry_if cannot be a template", d.Steps[i].ID)
	}
	if d.decoded {
		return
	}
	for _, p := range when.Check() {
		d.problem(at+"/"+p.Field, CodeBadCondition, p.Hint, "%s", p.Message)
	}
}

// isTarget reports whether a retry_if names the step.
func (d *Draft) isTarget(id string) bool {
	return slices.ContainsFunc(d.Steps, func(s Step) bool {
		return slices.ContainsFunc(s.RetryIf, func(w Retry) bool { return w.Step == id })
	})
}

// checkPrevious checks the input of a step that uses the files of the step executed before it.
func (d *Draft) checkPrevious(s Step, at string) {
	if s.Input == "" {
		return
	}
	if s.Input != InputPrevious {
		d.problem(at+"/input", CodeBadInput, `use "previous", or name a step in input_from`, "step '%s': input must be \"previous\", got '%s'", s.ID, s.Input)
		return
	}
	if s.Action == nil {
		return
	}
	action, _ := params.Of(s.Action) // checkParams reports an unusable action
	param, given := givenFiles(s, action)
	switch spec := s.Action.Spec(); {
	case spec.Input == actions.InputNone, spec.Input == actions.InputMany:
		d.problem(at+"/input", CodeUnusedInput, "leave it out", "step '%s': %s takes no files from the step before",
			s.ID, spec.Name)
	case len(s.Inputs()) > 0:
		d.problem(at+"/input", CodeTwoInputs, "use one of them", "step '%s' has both input and %s", s.ID, inputField(s))
	case given:
		d.problem(at+"/input", CodeTwoInputs, "use one of them", "step '%s' has both input and %s", s.ID, param)
	}
}

// FileParams returns the parameters in which a step may name its files: "files" and, if an action needs files, also
// "paths" and "path", which are names in other tools, and the keys of "renames", whose values are new names.
func FileParams(spec actions.Spec) []string {
	if spec.Input == actions.InputFiles {
		return []string{"files", "paths", "path", "renames"}
	}
	return []string{"files"}
}

// givenFiles returns the parameter in which the step names its own files, by a list, a map or a template.
func givenFiles(s Step, action params.Action) (param string, ok bool) {
	for _, param := range FileParams(s.Action.Spec()) {
		if _, ok := s.Bind["/"+param]; ok {
			return param, true
		}
		if v, ok := action.Get(param); ok {
			switch v.Kind() {
			case reflect.Slice, reflect.String, reflect.Map:
				if v.Len() > 0 {
					return param, true
				}
			}
		}
	}
	return "", false
}

func inputField(s Step) string {
	if s.InputFrom != "" {
		return "input_from"
	}
	return "input_from_all"
}

// warnUnreachable warns of steps that can never be reached.
func (d *Draft) warnUnreachable() {
	reached := make([]bool, len(d.Steps)+1)
	passes := make([]int, len(d.Steps)) // the step that jumps over it
	if len(d.Steps) == 0 {
		return
	}
	reached[0] = true
	for i, s := range d.Steps {
		if !reached[i] {
			continue
		}
		// A step that can be skipped leads to the next step; so does a step whose failure is handled or ignored.
		ahead := s.Next == "" || !s.When.IsZero() || len(s.Inputs()) > 0 || s.Input != "" ||
			s.OnFail == "" && (d.Options.ContinueOnError || d.isAwaited(s.ID))
		if ahead {
			reached[i+1] = true
		}
		for _, to := range []string{s.Next, s.OnFail} {
			if j, ok := d.index[to]; ok && to != "" && j > i {
				reached[j] = true
				if !ahead {
					for k := i + 1; k < j; k++ {
						passes[k] = i
					}
				}
			}
		}
	}
	for i, s := range d.Steps {
		switch {
		case !reached[i]:
			d.warn(fmt.Sprintf("/steps/%d", i), CodeUnreachable, "step '%s' can never run: '%s' always jumps over it",
				s.ID, d.Steps[passes[i]].ID)
		case i == 0 && s.AfterError() && !d.isTarget(s.ID):
			d.warn("/steps/0/condition", CodeUnreachable, "step '%s' can never run: no step is executed before it",
				s.ID)
		}
	}
}

// isAwaited reports whether a condition step_failed names the step.
func (d *Draft) isAwaited(id string) bool {
	return slices.ContainsFunc(d.Steps, func(s Step) bool {
		return s.When.Type() == "step_failed" && s.When.StepRef() == id
	})
}
