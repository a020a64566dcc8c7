package rundir

import (
	"path"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// A deleted index is rebuilt, so that lists read no more runs than they show.
func TestReindex(t *testing.T) {
	t.Parallel()
	read := 0
	fsys := errorfs.Wrap(fstest.OpenRoot(t, t.TempDir()), errorfs.Before(func(op *errorfs.Op) error {
		if op.Kind == "open" && path.Base(op.Name) == runFile && op.Flag == 0 {
			read++
		}
		return nil
	}))
	s := openStore(t, fsys, Options{NoSync: true})
	for range 20 {
		w := createRun(t, s, twoSteps())
		work(t, w, runs.Success, false)
		fstest.Must(t, w.close())
	}
	list := func() int {
		t.Helper()
		read = 0
		page, err := s.List(t.Context(), runs.Filter{Paging: runs.Paging{PerPage: 5}})
		if err != nil || page.Total != 20 || len(page.Items) != 5 {
			t.Errorf("%+v, %v", page, err)
		}
		return read
	}
	whole := fstest.Read(t, s.d.FS, s.path(indexFile))
	if n := list(); n != 5 {
		t.Errorf("%d runs were read for 5", n)
	}
	fstest.Must(t, s.d.FS.Remove(s.path(indexFile)))
	if n := list(); n < 20 {
		t.Errorf("%d runs were read without an index", n)
	}
	busy, err := s.own(7)
	fstest.Must(t, err)
	fstest.Must(t, s.reindex(t.Context()))
	fstest.Must(t, busy.close())
	if n := list(); n != 6 {
		t.Errorf("%d runs were read for 5 and a run in progress", n)
	}
	fstest.Must(t, s.reindex(t.Context()))
	if n := list(); n != 5 {
		t.Errorf("%d runs were read for 5 with the new index", n)
	}
	if got := fstest.Read(t, s.d.FS, s.path(indexFile)); got != whole {
		t.Errorf("the new index has %d bytes, the old one %d", len(got), len(whole))
	}
	if !strings.Contains(whole, "rename-class") {
		t.Error("the index does not hold what lists go by")
	}
}
