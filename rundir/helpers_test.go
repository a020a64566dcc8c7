package rundir

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/runs"
)

var testKey = []byte("0123456789abcdef0123456789abcdef")

// began is the start time of the clocks of tests. They advance by a second at each call.
var began = time.Date(2025, 2, 13, 12, 0, 0, 0, time.UTC)

func openStore(t testing.TB, fsys afero.Fs, o Options) *Store {
	t.Helper()
	if o.Key == nil {
		o.Key = testKey
	}
	s, err := Open(fsys, "store/runs", o)
	fstest.Must(t, err)
	now := began
	s.now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	return s
}

// twoSteps describes a run of two steps.
func twoSteps() newRun {
	return newRun{
		created:   created{Project: "p", Name: "rename", Ref: "rename-class", SHA: strings.Repeat("ab", 32), Source: runs.SourceAPI, User: "ann"},
		pipeline:  []byte(`{"name":"rename"}`),
		variables: []runs.Variable{{Key: "B", Value: "secret"}, {Key: "A", Value: "secret"}},
		steps:     []stepName{{"find", "search"}, {"fix", "edit"}},
		status:    runs.Created,
	}
}

// work does the work of a manager on a successful run of two steps, up to an end with that status.
func work(t testing.TB, w *writer, status runs.Status, large bool) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		fstest.Must(t, err)
	}
	must(w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}))
	must(w.append(&record{Kind: kindState, Status: runs.Running}))
	for i, step := range []string{"find", "fix"} {
		ordinal, err := w.jobFor(i)
		must(err)
		at := &place{Step: step, Index: i, Visit: 1, Attempt: 1}
		must(w.append(&record{Kind: kindStart, Job: ordinal, At: at}))
		must(w.line(ordinal, "begins with "+step))
		output := "done"
		if large {
			output = strings.Repeat("x", 10_000)
		}
		result, err := w.value(millrace.StepResult{StepID: step, Success: true, EditsApplied: i, Output: output})
		must(err)
		delta, err := w.blob([]byte(strings.Repeat("d", 100)))
		must(err)
		must(w.append(&record{Kind: kindDone, Job: ordinal, At: at, Done: &done{Result: result, Delta: delta, Final: true, Parent: i}}))
		must(w.endLog(ordinal))
	}
	ordinal, err := w.jobFor(2)
	must(err)
	must(w.append(&record{Kind: kindCommit, Job: ordinal, At: &place{Index: 2}, Commit: &commit{}}))
	must(w.append(&record{Kind: kindEnd, Status: status, Reason: "as told", End: &end{}}))
}

func createRun(t testing.TB, s *Store, n newRun) *writer {
	t.Helper()
	w, err := s.create(t.Context(), n)
	fstest.Must(t, err)
	return w
}

// everyFs calls test with each kind of file system that a store may be on.
func everyFs(t *testing.T, test func(t *testing.T, fsys afero.Fs)) {
	for name, fsys := range map[string]afero.Fs{
		"root": fstest.OpenRoot(t, t.TempDir()), "memory": afero.NewMemMapFs(), "plain": errorfs.Plain(fstest.OpenRoot(t, t.TempDir())),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fsys)
		})
	}
}

// openDir opens a directory of the operating system, until the test ends.
func openDir(t testing.TB, dir string) afero.Fs {
	t.Helper()
	root, err := rootfs.Open(dir)
	fstest.Must(t, err)
	t.Cleanup(func() { fstest.Must(t, root.Close()) })
	return root
}
