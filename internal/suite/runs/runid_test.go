package runs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
)

func TestRunID(t *testing.T) {
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			if err := afero.WriteFile(fsys, "n.txt", []byte("end\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			x := millrace.Executor{RunID: "job-1"}
			first, err := x.Run(t.Context(), fsys, suite.Count())
			if err != nil {
				t.Fatal(err)
			}
			again, err := x.Run(t.Context(), fsys, suite.Count())
			if err != nil {
				t.Fatal(err)
			}
			if got := suite.Read(t, fsys, "n.txt"); got != "x end\n" {
				t.Errorf("the second run of the same id has written: %q", got)
			}
			if first.Replayed || !again.Replayed || again.BackupID != first.BackupID || again.TotalEdits != 1 || again.RunID != "job-1" || again.Commit.State != millrace.CommitApplied {
				t.Errorf("first %+v\nagain %+v", first, again)
			}
			if _, err := x.Run(t.Context(), fsys, suite.Edit("n.txt")); err == nil || !strings.Contains(err.Error(), `run id "job-1": it was used for another pipeline on this tree`) {
				t.Errorf("another pipeline: %v", err)
			}
			other := millrace.Executor{RunID: "job-2"}
			if _, err := other.Run(t.Context(), fsys, suite.Count()); err != nil {
				t.Fatal(err)
			}
			if got := suite.Read(t, fsys, "n.txt"); got != "x x end\n" {
				t.Errorf("another id: %q", got)
			}
		})
	}
	if _, err := (millrace.Executor{RunID: "../x"}).Run(t.Context(), suite.Tree(), suite.Count()); err == nil {
		t.Error("a run id that leads elsewhere was accepted")
	}
}

// TestRunIDOfAFailure: a run that was not committed starts anew.
func TestRunIDOfAFailure(t *testing.T) {
	fsys := suite.Tree("a.txt", "end\n")
	x := millrace.Executor{RunID: "job"}
	if _, err := x.Run(t.Context(), fsys, suite.Count()); err == nil {
		t.Fatal("no error although n.txt is missing")
	}
	if err := afero.WriteFile(fsys, "n.txt", []byte("end\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if res, err := x.Run(t.Context(), fsys, suite.Count()); err != nil || res.Replayed {
		t.Errorf("%v, %v", res, err)
	}
}

// TestStoredRunFromElsewhere: a stored result that came with the tree is not trusted.
func TestStoredRunFromElsewhere(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("n.txt", "end\n")
	write(".millrace/results/job.json", `{"digest":"`+suite.Count().Digest()+`","result":{"name":"count","success":true},"mac":""}`)
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = millrace.Executor{RunID: "job"}.Run(t.Context(), root, suite.Count())
	if bad, ok := errors.AsType[*millrace.ExecutorError](err); !ok || bad.Field != "RunID" ||
		!strings.HasPrefix(err.Error(), `run id "job": `) {
		t.Errorf("error %v", err)
	}
}
