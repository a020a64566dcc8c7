package rundir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// BenchmarkWork measures a look of a manager at 10,000 runs that are not due: the first look, a look after a write to a
// run, and a look without any change.
func BenchmarkWork(b *testing.B) {
	dir := b.TempDir()
	s := openBench(b, dir)
	for range 10_000 {
		createLater(b, s)
	}
	m, err := s.Manage(Host{Trees: fleet.Dirs{}})
	fstest.Must(b, err)
	defer m.Close(b.Context())
	for name, forget := range map[string]func(*lookout){
		"first":   func(l *lookout) { *l = lookout{m: m} },
		"changed": func(l *lookout) { l.index = change.State{} },
		"idle":    func(l *lookout) {},
	} {
		b.Run(name, func(b *testing.B) {
			l := &lookout{m: m}
			fstest.Must(b, os.Chtimes(filepath.Join(dir, "store/runs", indexFile), time.Time{}, time.Now().Add(-time.Hour)))
			fstest.Must(b, l.takeAll(b.Context()))
			for b.Loop() {
				forget(l)
				fstest.Must(b, l.takeAll(b.Context()))
			}
		})
	}
}

// createLater creates a run that is due in a year.
func createLater(t testing.TB, s *Store) {
	t.Helper()
	n := twoSteps()
	n.status, n.StartAt = runs.Scheduled, time.Now().Add(365*24*time.Hour)
	fstest.Must(t, createRun(t, s, n).close())
}
