package millrace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
)

// notebook keeps a run in memory. A Checkpointer that outlives its process writes the checkpoints, as JSON, and the
// bytes of the spill into files.
type notebook struct {
	kept  []millrace.Checkpoint
	bytes []byte
}

func (n *notebook) Enter(context.Context, millrace.Position) error { return nil }

func (n *notebook) Keep(_ context.Context, c millrace.Checkpoint) error {
	n.kept = append(n.kept, c)
	return nil
}

func (n *notebook) Spill() fsutil.Spill { return n }

func (n *notebook) Append(p []byte) (offset int64, err error) {
	n.bytes = append(n.bytes, p...)
	return int64(len(n.bytes) - len(p)), nil
}

func (n *notebook) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(n.bytes).ReadAt(p, off)
}

func (n *notebook) saved() millrace.Saved {
	return millrace.Saved{Checkpoints: func(yield func(millrace.Checkpoint, error) bool) {
		for _, c := range slices.Clone(n.kept) {
			if !yield(c, nil) {
				return
			}
		}
	}}
}

// A manual step waits until a person has looked at the work of the steps before it.
func ExampleExecutor_Resume() {
	ctx, fsys, n := context.Background(), suite.Tree("VERSION", "1.0\n"), new(notebook)
	p := millrace.New("release").
		Step("version", actions.Edit{Files: []string{"VERSION"}, OldText: "1.0", NewText: "1.1"}).
		Step("notes", actions.Create{Path: "NOTES", Content: "What is new\n"}).Manual().
		MustBuild()
	x := millrace.Executor{Checkpoints: n}

	_, err := x.Run(ctx, fsys, p)
	if held, ok := errors.AsType[*millrace.HeldError](err); ok {
		fmt.Println(held)
		fmt.Print(held.Plan.Diff())
		held.Plan.Close()
	}
	// Later, perhaps in another process, somebody has approved.
	res, err := x.Resume(ctx, fsys, p, n.saved())
	fmt.Println(res, err)
	// Output:
	// run is held: step 'notes' is manual: play to run it
	// diff --git a/VERSION b/VERSION
	// --- a/VERSION
	// +++ b/VERSION
	// @@ -1 +1 @@
	// -1.0
	// +1.1
	// OK: 2/2 steps | 2 files | 1 edits <nil>
}
