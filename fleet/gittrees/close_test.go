package gittrees_test

import (
	"errors"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// A run that has failed, that was a dry run, or that has changed nothing makes neither a commit nor a branch, whatever
// its result lists.
func TestClose_noCommit(t *testing.T) {
	t.Parallel()
	changed := millrace.FilesChanged{Modified: []string{"a.txt"}}
	for name, test := range map[string]struct {
		res    *millrace.Result
		failed error
	}{
		"an error":        {&millrace.Result{Success: true, FilesChanged: changed}, errors.New("failed")},
		"no result":       {nil, nil},
		"no success":      {&millrace.Result{FilesChanged: changed}, nil},
		"a dry run":       {&millrace.Result{Success: true, DryRun: true, FilesChanged: changed}, nil},
		"nothing changed": {&millrace.Result{Success: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, opened := edited(t)
			base := git(t, dir, "rev-parse", "HEAD")
			fstest.Must(t, opened.Close(t.Context(), test.res, test.failed))
			if got := git(t, dir, "rev-parse", "HEAD"); got != base {
				t.Errorf("the tree is on %s, not %s", got, base)
			}
			if got := commits(t, dir, "two"); got != -1 {
				t.Errorf("the branch has %d commits", got)
			}
		})
	}
}

// A file that another program stages between the opening and the commit is not in the commit, and stays staged.
func TestClose_onlyItsFiles(t *testing.T) {
	t.Parallel()
	dir, opened := edited(t)
	write(t, dir, "other.txt", "of another program\n")
	git(t, dir, "add", "other.txt")
	res := &millrace.Result{Success: true, FilesChanged: millrace.FilesChanged{Modified: []string{"a.txt"}}}
	fstest.Must(t, opened.Close(t.Context(), res, nil))
	if got := git(t, dir, "show", "--format=", "--name-only", "two"); got != "a.txt" {
		t.Errorf("the commit has the files %q", got)
	}
	if got := git(t, dir, "diff", "--cached", "--name-only"); got != "other.txt" {
		t.Errorf("staged are %q", got)
	}
}
