package recovery_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
)

// vanishing is a file system from which another program removes the state directory when a file is renamed to a certain
// name.
func vanishing(fsys afero.Fs, at string) afero.Fs {
	return errorfs.Wrap(fsys, errorfs.Before(func(op *errorfs.Op) error {
		if op.Kind == "rename" && op.Name == at {
			return fsys.RemoveAll(".millrace")
		}
		return nil
	}))
}

// A commit whose state directory is removed after it has changed a file names the file that differs from before. It
// does not suggest Recover, which could do nothing.
func TestStateDirectoryRemovedInTheMiddle(t *testing.T) {
	t.Parallel()
	mem := afero.NewMemMapFs()
	for _, name := range []string{"a.txt", "b.txt"} {
		if err := afero.WriteFile(mem, name, []byte("needle"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := millrace.Decode([]byte(`{"name": "n", "steps": [{"id": "e", "action": "edit", "params": {"files": ["a.txt", "b.txt"], "old_text": "needle", "new_text": "pin"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := millrace.Executor{}.Run(t.Context(), vanishing(mem, "b.txt"), p)
	failed, ok := errors.AsType[*millrace.CommitError](err)
	if !ok || failed.State != millrace.CommitRolledBack || !strings.Contains(err.Error(), "a.txt: is new already") || strings.Contains(err.Error(), "b.txt: is") {
		t.Errorf("error is %v", err)
	}
	if !millrace.Written(err) {
		t.Error("the error does not report the write")
	}
	if res.Success || res.Commit.State != millrace.CommitRolledBack {
		t.Errorf("result is %+v", res.Commit)
	}
	a, _ := afero.ReadFile(mem, "a.txt")
	b, _ := afero.ReadFile(mem, "b.txt")
	if string(a) != "pin" || string(b) != "needle" {
		t.Errorf("the tree has %q and %q", a, b)
	}
}
