package actions

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Aggregate joins the texts that several earlier steps have read, and their lists of files. The texts are in the order
// of input_from_all. Within a step, the content of its files comes first, in their order, then its aggregated content.
type Aggregate struct {
	Separator *string `json:"separator,omitempty" doc:"Text between two contents. Default: a newline."`
}

// Spec implements [Action].
func (Aggregate) Spec() Spec {
	const summary = "Join the content and the file lists of several steps"
	return Spec{Name: "aggregate", Summary: summary, ReadOnly: true, Input: InputMany}
}

// Touches implements [Toucher].
func (Aggregate) Touches() (reads, writes []string, known bool) { return nil, nil, true }

// Run implements [Action].
func (a Aggregate) Run(_ context.Context, c *Call) (Outcome, error) {
	separator := "\n"
	if a.Separator != nil {
		separator = *a.Separator
	}
	var texts []string
	for _, input := range c.Inputs {
		for _, file := range distinct(slices.Concat(input.Files, slices.Sorted(maps.Keys(input.Content)))) {
			if text, ok := input.Content[file]; ok {
				texts = append(texts, text)
			}
		}
		if input.Aggregated != "" {
			texts = append(texts, input.Aggregated)
		}
	}
	room := c.Limits.shown()
	for _, text := range texts {
		if err := room.take(len(text) + len(separator)); err != nil {
			return Outcome{}, err
		}
	}
	out := Outcome{Files: union(c.Inputs), Aggregated: strings.Join(texts, separator)}
	if len(texts) == 0 && len(out.Files) > 0 {
		c.Warnf("none of the input steps has any content; use read_ranges, or include_content of search")
	}
	return out, nil
}

// union returns the files of all inputs, each once, in order of first occurrence.
func union(inputs []Result) []string {
	var files []string
	for _, input := range inputs {
		files = append(files, input.Files...)
	}
	return distinct(files)
}

// distinct removes repeated elements of a list.
func distinct(files []string) []string {
	seen := make(map[string]bool, len(files))
	return slices.DeleteFunc(files, func(file string) bool {
		twice := seen[file]
		seen[file] = true
		return twice
	})
}
