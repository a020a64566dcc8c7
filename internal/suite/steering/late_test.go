package steering_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
)

// late writes to the tree of a run after its attempt is over, in every possible way.
type late struct {
	fail bool
	wait <-chan struct{}
	errs chan<- error
}

func (late) Spec() actions.Spec { return actions.Spec{Name: "late", Summary: "is late"} }

func (l late) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	begin := c.FS.Savepoint()
	if err := afero.WriteFile(c.FS, "in-time", nil, 0o644); err != nil {
		return actions.Outcome{}, err
	}
	open, err := c.FS.OpenFile("in-time", os.O_WRONLY, 0)
	if err != nil {
		return actions.Outcome{}, err
	}
	go func() {
		defer close(l.errs)
		<-l.wait
		_, written := open.Write([]byte("late"))
		made := c.FS.MkdirAll("late/dir", 0o755)
		for _, err := range []error{
			written, open.Truncate(9), made, c.FS.Mkdir("late-dir", 0o755), afero.WriteFile(c.FS, "late-file", []byte("x"), 0o644),
			c.FS.Rename("f", "moved"), c.FS.Copy("f", "copied"), c.FS.Remove("f"), c.FS.RemoveAll("d"), c.FS.Chmod("f", 0o600),
			c.FS.Chtimes("f", time.Unix(1, 0), time.Unix(1, 0)), c.FS.Edit("f", []change.Splice{{Len: 1, Text: []byte("y")}}), c.FS.SymlinkIfPossible("f", "link"),
		} {
			l.errs <- err
		}
		c.FS.Rollback(begin)
		_ = open.Close()
	}()
	if l.fail {
		return actions.Outcome{}, errors.New("no time left")
	}
	return actions.Outcome{Files: []string{"in-time"}}, nil
}

// Changes that an action makes to the tree after it has returned are refused: the attempt may have been dropped, and
// other steps may have run.
func TestLateWritesAreRefused(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		wait, errs := make(chan struct{}), make(chan error, 20)
		check := suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
			close(wait)
			n := 0
			for err := range errs {
				if n++; !errors.Is(err, fs.ErrClosed) {
					t.Errorf("write %d after the attempt: %v", n, err)
				}
			}
			if n != 13 {
				t.Errorf("%d writes were attempted", n)
			}
			return actions.Outcome{}, afero.WriteFile(c.FS, "later", nil, 0o644)
		}}
		p := millrace.New("p").Step("late", late{fail: fails, wait: wait, errs: errs}).OnFail("check").Step("check", check).MustBuild()
		fsys := suite.Tree("f", "x", "d/e", "x")
		res, err := millrace.Run(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"in-time", "later"}
		if fails {
			want = want[1:]
		}
		if got := res.FilesChanged.Created; len(got) != len(want) || got[0] != want[0] || res.FilesChanged.Count() != len(want) {
			t.Errorf("changed: %+v, want %v", res.FilesChanged, want)
		}
		if got := content(t, fsys, "f") + content(t, fsys, "d/e"); got != "xx" {
			t.Errorf("got %q", got)
		}
	}
}

// A step can drop only its own staged changes, whatever savepoint it names.
func TestRollbackOfAStep(t *testing.T) {
	t.Parallel()
	for _, readOnly := range []bool{false, true} {
		all := rollsBack{readOnly}
		p := millrace.New("p").Step("make", actions.Create{Path: "made", Content: "x"}).Step("all", all).MustBuild()
		fsys := suite.Tree("f", "x")
		res, err := millrace.Run(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.FilesChanged.Created; len(got) != 1 || got[0] != "made" {
			t.Errorf("read only %v: created are %v", readOnly, got)
		}
	}
}

type rollsBack struct{ readOnly bool }

func (r rollsBack) Spec() actions.Spec {
	return actions.Spec{Name: "rolls back", Summary: "A test", ReadOnly: r.readOnly}
}

func (r rollsBack) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	if !r.readOnly {
		if err := afero.WriteFile(c.FS, "own", nil, 0o644); err != nil {
			return actions.Outcome{}, err
		}
	}
	c.FS.Rollback(fsutil.Savepoint{})
	return actions.Outcome{}, nil
}
