package actions

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// Diff compares two files line by line. The outcome has the unified diff as aggregated content, empty if the files
// are equal, and the number of its hunks as the count "changes". For binary files the outcome only reports that they
// differ.
type Diff struct {
	FileA   string `json:"file_a" param:"required" doc:"The old file."`
	FileB   string `json:"file_b" param:"required" doc:"The new file."`
	Context *int   `json:"context,omitempty" doc:"Unchanged lines shown before and after a change; 0 for none. Default: 3."`
}

// changesKey is the name of the count of a diff.
const changesKey = "changes"

// Spec implements [Action].
func (Diff) Spec() Spec {
	return Spec{Name: "diff", Summary: "Compare two files line by line", ReadOnly: true, Input: InputNone}
}

// Validate implements [Validator].
func (d Diff) Validate(c *Check) {
	if d.Context != nil && *d.Context < -1 {
		c.Problemf("/context", codeBadRange, "use 0 for no context", "context cannot be negative")
	}
}

// Touches implements [Toucher].
func (d Diff) Touches() (reads, writes []string, known bool) {
	return []string{d.FileA, d.FileB}, nil, true
}

// Run implements [Action].
func (d Diff) Run(ctx context.Context, c *Call) (Outcome, error) {
	var names [2]string
	var texts [2][]byte
	for i, name := range []string{d.FileA, d.FileB} {
		var err error
		if names[i], err = c.stage().Canonical(name); err == nil {
			_, err = c.FS.Stat(name) // "a.txt/" is not "a.txt"
		}
		if err != nil {
			return Outcome{}, fileError(name, err)
		}
		if texts[i], err = c.ReadFile(names[i]); err != nil {
			return Outcome{}, err
		}
	}
	out := Outcome{Counts: map[string]int{changesKey: 0}}
	if fsutil.IsBinary(texts[0]) || fsutil.IsBinary(texts[1]) {
		if !bytes.Equal(texts[0], texts[1]) {
			out.Counts[changesKey] = 1
			out.Aggregated = fmt.Sprintf("Binary files %s and %s differ\n", names[0], names[1])
		}
		return out, nil
	}
	around := textdiff.DefaultContext
	if d.Context != nil {
		around = max(*d.Context, 0) // -1 is how no context was written once
	}
	var b bytes.Buffer
	shown := io.MultiWriter(c.Limits.shown(), &b)
	from, to := textdiff.Bytes(texts[0]), textdiff.Bytes(texts[1])
	hunks, err := textdiff.Unified(ctx, shown, names[0], names[1], from, to, nil, around)
	if err != nil {
		return Outcome{}, err
	}
	out.Aggregated, out.Counts[changesKey] = b.String(), hunks
	return out, nil
}
