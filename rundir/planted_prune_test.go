package rundir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

type noTrees struct{}

func (noTrees) Open(context.Context, fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{FS: afero.NewMemMapFs()}, nil
}

// The index is not signed: an id in it cannot lead outside of the store.
func TestPlanted_slotID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared")
	victim := filepath.Join(dir, "victim")
	fstest.Must(t, errors.Join(os.MkdirAll(shared, 0o700), os.MkdirAll(victim, 0o700), os.WriteFile(filepath.Join(victim, "a"), nil, 0o600)))
	s := openStore(t, openDir(t, dir), Options{NoSync: true, SharedDir: shared})
	for range 3 {
		w := createRun(t, s, twoSteps())
		work(t, w, runs.Success, true)
		fstest.Must(t, w.close())
	}
	index, err := os.OpenFile(filepath.Join(dir, "store/runs/index"), os.O_RDWR, 0)
	fstest.Must(t, err)
	for number, id := range []string{"", "../victim", "", ""} {
		if number == 0 {
			continue
		}
		l, err := s.load(int64(number))
		fstest.Must(t, err)
		e := entryOf(l.shownRun)
		e.signer = s.signer() // a stranger cannot compute it
		e.id = []byte(id)
		_, err = index.WriteAt(e.encode(), int64(number)*slotSize)
		fstest.Must(t, err)
	}
	fstest.Must(t, index.Close())
	m, err := s.Manage(Host{Trees: noTrees{}, Retention: Retention{MaxAge: time.Nanosecond}})
	fstest.Must(t, err)
	fstest.Must(t, m.Close(t.Context()))
	if _, err := os.Stat(filepath.Join(victim, "a")); err != nil {
		t.Error("a directory beside the shared ones was removed:", err)
	}
	if _, err := os.Stat(shared); err != nil {
		t.Error("the directory of all shared ones was removed:", err)
	}
}

// A link in place of a directory of the store is not followed.
func TestPlanted_trash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fstest.Must(t, errors.Join(os.MkdirAll(filepath.Join(dir, "src"), 0o700), os.WriteFile(filepath.Join(dir, "src/main.go"), nil, 0o600)))
	s := openStore(t, openDir(t, dir), Options{NoSync: true, SharedDir: filepath.Join(dir, "shared")})
	w := createRun(t, s, twoSteps())
	work(t, w, runs.Success, true)
	fstest.Must(t, w.close())
	if err := os.Symlink("../../src", filepath.Join(dir, "store/runs/trash")); err != nil {
		t.Skip(err)
	}
	m, err := s.Manage(Host{Trees: noTrees{}})
	fstest.Must(t, err)
	fstest.Must(t, m.Close(t.Context()))
	if _, err := os.Stat(filepath.Join(dir, "src/main.go")); err != nil {
		t.Error("a file of the tree was removed:", err)
	}
}

// A link in place of a shard is not followed for writing either.
func TestPlanted_shard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fstest.Must(t, os.MkdirAll(filepath.Join(dir, "src"), 0o700))
	s := openStore(t, openDir(t, dir), Options{NoSync: true, SharedDir: filepath.Join(dir, "shared")})
	fstest.Must(t, s.prepareStore())
	if err := os.Symlink("../../src", filepath.Join(dir, "store/runs/000000")); err != nil {
		t.Skip(err)
	}
	w, err := s.create(t.Context(), twoSteps())
	if err == nil {
		t.Error("made in the directory that a link leads to", w.close())
	}
	if names, _ := os.ReadDir(filepath.Join(dir, "src")); len(names) > 0 {
		t.Error(names)
	}
}

// A run whose process had received a cancel, and died before the run ended, is canceled, not continued.
func TestSettle_canceled(t *testing.T) {
	t.Parallel()
	s := openStore(t, openDir(t, t.TempDir()), Options{NoSync: true, SharedDir: t.TempDir()})
	var numbers []int64
	for range 2 {
		w := createRun(t, s, twoSteps())
		for _, r := range []*record{
			{Kind: kindTake, Status: runs.Pending, Take: w.me()}, {Kind: kindState, Status: runs.Running}, {Kind: kindCancel, Cancel: &cancel{"bob"}},
		} {
			fstest.Must(t, w.append(r))
		}
		fstest.Must(t, w.close())
		numbers = append(numbers, w.number)
	}
	m, err := s.Manage(Host{Trees: noTrees{}, Adopt: true, User: "ann"})
	fstest.Must(t, err)
	_, err = m.takeIfDue(t.Context(), numbers[0])
	fstest.Must(t, err)
	_, err = m.Cancel(t.Context(), runs.RunRef{ID: "2"})
	fstest.Must(t, err)
	for _, id := range []string{"1", "2"} {
		run, err := m.Wait(t.Context(), runs.RunRef{ID: id})
		fstest.Must(t, err)
		if run.Status != runs.Canceled || run.Reason != "canceled by bob" || !run.Resumable {
			t.Errorf("%+v", run)
		}
	}
	fstest.Must(t, m.Close(t.Context()))
}

// Foreign runs are counted separately: they do not displace the user's own runs, and are removed beyond the limits,
// except those that wait or are worked on. Such a run may refer to the files of another run.
func TestPlanted_retention(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fsys, theirs := openDir(t, dir), openDir(t, dir)
	s := openStore(t, fsys, Options{NoSync: true, SharedDir: filepath.Join(dir, "shared")})
	other := openStore(t, theirs, Options{NoSync: true, Key: []byte("another key, which is long enough")})
	ended := func(s *Store) *writer {
		w := createRun(t, s, twoSteps())
		work(t, w, runs.Success, false)
		fstest.Must(t, w.close())
		return w
	}
	shared, err := s.sharedDir(ended(s).run.created.ID)
	fstest.Must(t, errors.Join(err, os.MkdirAll(shared, 0o700)))
	ended(s)
	ended(s)
	text, err := s.read(1, runFile, 1<<20)
	fstest.Must(t, errors.Join(err, fsys.Mkdir(s.run(4), 0o700), afero.WriteFile(fsys, s.run(4, runFile), text, 0o600))) // a copy
	for range 6 {
		ended(other)
	}
	lock, err := other.takeLock(5)
	fstest.Must(t, err)
	fstest.Must(t, createRun(t, other, twoSteps()).close())
	ended(s)
	high := s.run(maxNumber)
	fstest.Must(t, errors.Join(fsys.MkdirAll(high, 0o700), afero.WriteFile(fsys, high+"/run", text, 0o600)))
	m, err := s.Manage(Host{Trees: noTrees{}, Retention: Retention{Keep: 5}})
	fstest.Must(t, err)
	fstest.Must(t, errors.Join(m.Close(t.Context()), lock.Close()))
	left, err := s.inShard(0)
	fstest.Must(t, err)
	if diff := cmp.Diff([]int64{1, 2, 3, 5, 7, 8, 9, 10, 11, 12}, left); diff != "" {
		t.Error("left are:", diff)
	}
	if _, err := os.Stat(shared); err != nil {
		t.Error("the shared directory of the run that was copied:", err)
	}
	m, err = s.Manage(Host{Trees: noTrees{}, Retention: Retention{MaxBytes: 1}})
	fstest.Must(t, err)
	fstest.Must(t, m.Close(t.Context()))
	if left, err = s.inShard(0); err != nil || !slices.Equal(left, []int64{11, 12}) {
		t.Errorf("left are %v, %v", left, err)
	}
	if at, err := s.d.Look(high); err != nil || at.Kind != change.Absent {
		t.Errorf("the run of the highest number: %v, %v", at.Kind, err)
	}
	if at, err := s.d.Look(s.path(indexFile)); err != nil || at.Size > perShard*slotSize {
		t.Errorf("the index has %d bytes, %v", at.Size, err)
	}
}
