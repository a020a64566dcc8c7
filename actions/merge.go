package actions

import (
	"context"
	"fmt"
	"slices"
)

// Merge joins, intersects or subtracts the lists of files of several earlier steps.
type Merge struct {
	Mode string `json:"mode,omitempty" enum:"union,intersection,difference" doc:"Files in any list (union), in all lists (intersection), or only in the first (difference). Default: union."`
}

// Spec implements [Action].
func (Merge) Spec() Spec {
	const summary = "Join, intersect or subtract the file lists of several steps"
	return Spec{Name: "merge", Summary: summary, ReadOnly: true, Input: InputMany}
}

// Touches implements [Toucher].
func (Merge) Touches() (reads, writes []string, known bool) { return nil, nil, true }

// Run implements [Action].
func (m Merge) Run(_ context.Context, c *Call) (Outcome, error) {
	files := union(c.Inputs)
	switch m.Mode {
	case "", "union":
	case "intersection":
		for _, input := range c.Inputs {
			in := setOf(input.Files)
			files = slices.DeleteFunc(files, func(file string) bool { return !in[file] })
		}
	case "difference":
		if len(c.Inputs) == 0 {
			break
		}
		out := setOf(union(c.Inputs[1:]))
		files = slices.DeleteFunc(union(c.Inputs[:1]), func(file string) bool { return out[file] })
	default:
		return Outcome{}, fmt.Errorf("unsupported merge mode '%s'", m.Mode)
	}
	return Outcome{Files: files}, nil
}

func setOf(files []string) map[string]bool {
	set := make(map[string]bool, len(files))
	for _, file := range files {
		set[file] = true
	}
	return set
}
