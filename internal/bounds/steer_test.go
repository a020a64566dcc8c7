package bounds_test

import (
	"fmt"
	"slices"

	"github.com/millrace-go/millrace"
)

// steer gives the steps of a pipeline jumps to others, and many attempts and visits; and the pipeline itself a
// deadline, a budget, and variables. Most values that the decoder refuses are removed again.
func (g *generator) steer(whole object) {
	whole["parallel"] = g.one(8)
	steps := g.steps
	for i, step := range steps {
		before := step
		step = object{}
		for name, value := range before {
			step[name] = value
		}
		g.lead(step, i, len(steps))
		steps = slices.Clone(steps)
		steps[i] = step
		whole["steps"] = steps
		if _, err := millrace.Decode(encode(whole)); err != nil && !g.one(50) {
			steps[i] = before
		}
	}
	if g.one(5) {
		whole["deadline_seconds"] = []float64{0.001, 0.2, 1, 3600}[g.IntN(4)]
	}
	if g.one(5) {
		whole["budget"] = object{g.pick("files", "edits", "bytes"): 1 + g.IntN(3)*g.IntN(1<<20)}
	}
	if g.one(5) {
		whole["max_attempts"] = 1 + g.IntN(200)
	}
}

// lead adds some of the parameters that decide the next step.
func (g *generator) lead(step object, i, n int) {
	id := func(at int) string { return fmt.Sprint("s", at) }
	if i+1 < n && g.one(4) {
		step["on_fail"] = id(i + 1 + g.IntN(n-i-1))
	}
	if i+1 < n && g.one(4) {
		step["next"] = id(i + 1 + g.IntN(n-i-1))
	}
	if g.one(2) {
		back := object{"step": id(g.IntN(i + 1)), "restart": g.one(3)}
		switch g.IntN(3) {
		case 0:
			back["keyword"] = g.pick("a", " ", "failed", g.some("x"))
		case 1:
			back["when"] = object{"type": g.pick("has_matches", "step_succeeded", "step_failed", "no_matches"), "step_ref": id(i)}
		default:
			back["when"] = object{"type": g.pick("file_exists", "file_not_exists"), "path": "never there"}
		}
		step["retry_if"] = slices.Repeat([]object{back}, 1+g.IntN(3))
	}
	if g.one(3) {
		step["max_visits"] = 2 + g.IntN(99)
	}
	if g.one(3) {
		step["max_retries"] = g.IntN(101)
	}
	if g.one(8) {
		step["timeout"] = []float64{0.001, 0.1, 1}[g.IntN(3)]
	}
	if g.one(8) {
		step["backoff"] = []float64{0, 0.01, 3600}[g.IntN(3)]
	}
	if g.one(8) {
		step["condition"] = "prev.error"
	}
	if _, given := step["input_from"]; given && g.one(6) {
		delete(step, "input_from")
		step["input"] = "previous"
	}
}
