package rundir

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// watched is a manager whose runs all fail, because their trees cannot be opened, and that counts its reads.
type watched struct {
	*Manager
	disk   *crashfs.Fs
	l      *lookout
	later  atomic.Int64 // nanoseconds after the beginning of the test
	opened atomic.Int64 // files of records
	listed atomic.Int64 // directories
}

type noTree struct{}

func (noTree) Open(context.Context, fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{}, context.DeadlineExceeded
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	m, began := &watched{disk: crashfs.New()}, time.Now()
	s := openStore(t, m.disk, Options{SharedDir: t.TempDir()})
	s.now = func() time.Time { return began.Add(time.Duration(m.later.Load())) }
	var err error
	m.Manager, err = s.Manage(Host{Trees: noTree{}})
	fstest.Must(t, err)
	t.Cleanup(func() { fstest.Must(t, m.Close(context.Background())) })
	m.l = &lookout{m: m.Manager}
	return m
}

// look looks once. It returns the number of reads.
func (m *watched) look(t *testing.T) (opened, listed int) {
	t.Helper()
	m.opened.Store(0)
	m.listed.Store(0)
	m.disk.Before(func(op crashfs.Op) error {
		if op.Name == "open" && strings.HasSuffix(op.Path, "/run") {
			m.opened.Add(1)
		}
		if op.Name == "readdir" {
			m.listed.Add(1)
		}
		return nil
	})
	fstest.Must(t, m.l.takeAll(t.Context()))
	m.disk.Before(nil)
	return int(m.opened.Load()), int(m.listed.Load())
}

// An idle manager reads no run twice, and lists nothing while the index is unchanged.
func TestLookout_idle(t *testing.T) {
	t.Parallel()
	m := newWatched(t)
	for range 20 {
		createLater(t, m.store)
	}
	if opened, _ := m.look(t); opened < 20 {
		t.Errorf("%d runs were read at first", opened)
	}
	if opened, listed := m.look(t); opened > 0 || listed > 0 {
		t.Errorf("nothing has happened: %d runs were read, %d directories listed", opened, listed)
	}
	createLater(t, m.store)
	fstest.Must(t, m.disk.Chtimes("store/runs/index", time.Time{}, time.Now()))
	if opened, listed := m.look(t); opened == 0 || opened > 3 || listed == 0 {
		t.Errorf("one run was added: %d times a run was read, %d directories listed", opened, listed)
	}
	if _, listed := m.look(t); listed == 0 {
		t.Error("the index was written to a moment ago: there may be more, and nothing was listed")
	}
}

// A run that waits for a process is found: when it is due, when its process dies, when another process creates it, even
// if the index does not have it.
func TestLookout_finds(t *testing.T) {
	t.Parallel()
	failed := func(t *testing.T, m *watched, number int64) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			l, err := m.store.load(number)
			fstest.Must(t, err)
			if l.status == runs.Failed {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("run %d is %s", number, l.status)
			}
		}
	}
	for name, test := range map[string]func(t *testing.T, m *watched){
		"due": func(t *testing.T, m *watched) {
			createLater(t, m.store)
			m.look(t)
			m.look(t)
			m.later.Store(int64(2 * 365 * 24 * time.Hour))
			m.look(t)
		},
		"dead": func(t *testing.T, m *watched) {
			w := createRun(t, m.store, twoSteps())
			fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Running, Take: w.me()}))
			m.look(t)
			m.look(t)
			fstest.Must(t, w.close())
			m.look(t)
		},
		"created": func(t *testing.T, m *watched) {
			fstest.Must(t, m.store.prepareStore())
			fstest.Must(t, m.l.takeAll(t.Context()))
			fstest.Must(t, createRun(t, m.store, twoSteps()).close())
			m.look(t)
		},
		"created without a slot": func(t *testing.T, m *watched) {
			createLater(t, m.store)
			m.look(t)
			w := createRun(t, m.store, twoSteps())
			noise := make([]byte, slotSize)
			_, err := w.index.WriteAt(noise, 2*slotSize)
			fstest.Must(t, err)
			fstest.Must(t, w.close())
			m.l.index, err = m.store.d.Look("store/runs/index") // as if it had not been written to
			fstest.Must(t, err)
			m.l.read = m.l.read.Add(-time.Minute)
			m.look(t)
			failed(t, m, 2)
			m.later.Store(int64(2 * 365 * 24 * time.Hour))
			m.look(t)
		},
		"canceled and retried": func(t *testing.T, m *watched) {
			createLater(t, m.store)
			m.look(t)
			w, err := m.store.own(1)
			fstest.Must(t, err)
			fstest.Must(t, w.append(&record{Kind: kindEnd, Status: runs.Canceled, End: &end{}}))
			fstest.Must(t, w.append(&record{Kind: kindRetry, Status: runs.Pending, Retry: &retry{}}))
			fstest.Must(t, w.close())
			m.look(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newWatched(t)
			test(t, m)
			failed(t, m, 1)
		})
	}
}
