package actions

import (
	"context"
	"fmt"
	"slices"
)

// Merge joins or intersects the lists of files of several earlier steps.
type Merge struct {
	Mode string `json:"mode,omitempty" enum:"union,intersection" doc:"Whether a file has to be in one of the lists (union) or in all of them (intersection). Default: union."`
}

// Spec implements [Action].
func (Merge) Spec() Spec {
	return Spec{Name: "merge", Summary: "Join or intersect the file lists of several steps", ReadOnly: true, Input: InputMany}
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
			in := make(map[string]bool, len(input.Files))
			for _, file := range input.Files {
				in[file] = true
			}
			files = slices.DeleteFunc(files, func(file string) bool { return !in[file] })
		}
	default:
		return Outcome{}, fmt.Errorf("unsupported merge mode '%s'", m.Mode)
	}
	return Outcome{Files: files}, nil
}
