//go:build linux || darwin

package plans_test

import (
	"encoding/json"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// TestPlan_pipe: a named pipe in place of a file of a plan is not opened. Opening a pipe waits for a writer on a file
// system that has only the methods of afero.Fs.
func TestPlan_pipe(t *testing.T) {
	t.Parallel()
	for name, pipes := range map[string][]string{"just made": {"b.txt"}, "stored": {"b.txt", "a.txt"}} {
		stored := len(pipes) > 1
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			root, err := rootfs.Open(dir)
			fstest.Must(t, err)
			t.Cleanup(func() { root.Close() })
			var pipe string
			var opened atomic.Int32
			fsys := errorfs.Wrap(errorfs.Plain(root), func(op *errorfs.Op, do func() error) error {
				if op.Kind == "open" && op.Name == pipe {
					opened.Add(1)
				}
				return do()
			})
			for _, name := range []string{"a.txt", "b.txt"} {
				fstest.Must(t, afero.WriteFile(fsys, name, []byte(name+"\n"), 0o644))
			}
			var x millrace.Executor
			plan, err := x.Plan(t.Context(), fsys, millrace.New("over").
				Step("over", actions.Rename{Files: []string{"a.txt"}, To: "b.txt", Overwrite: true}).
				Step("edit", actions.Create{Path: "a.txt", Content: "new\n"}).MustBuild())
			fstest.Must(t, err)
			data, err := json.Marshal(plan)
			fstest.Must(t, err)
			for _, pipe = range pipes {
				fstest.Must(t, root.Remove(pipe))
				fstest.Must(t, syscall.Mkfifo(filepath.Join(dir, pipe), 0o600))
				if stored {
					plan, err = x.OpenPlan(t.Context(), fsys, data)
					fstest.Must(t, err)
				}
				if _, err := plan.Files(); stored && pipe == "a.txt" && err == nil {
					t.Error("files are shown")
				}
				if err := plan.WriteDiff(t.Output()); err == nil {
					t.Error("a diff is shown")
				}
				if _, err := plan.Commit(t.Context()); err == nil {
					t.Error("it is committed")
				}
				if n := opened.Load(); n > 0 {
					t.Errorf("%s was opened %d times", pipe, n)
				}
			}
		})
	}
}
