package commit_test

import (
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// spy records the operations of a commit on handles of directories, which simulated disks do not have.
type spy struct {
	mu    sync.Mutex
	notes []string
}

func (s *spy) note(words ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, strings.Join(words, " "))
}

// watch puts the spy between a commit and its disk.
func (s *spy) watch(d *disk.Disk) {
	d.System = spySystem{d.System, s}
	d.FS = spyFs{d.FS, s}
}

type spyFs struct {
	afero.Fs
	spy *spy
}

func (f spyFs) Rename(a, b string) error {
	f.spy.note("rename", path.Base(a), path.Base(b))
	return f.Fs.Rename(a, b)
}

type spySystem struct {
	disk.System
	spy *spy
}

func (s spySystem) SyncDir(name string) error {
	s.spy.note("syncdir", name)
	return s.System.SyncDir(name)
}

func (s spySystem) Exchange(a, b string) error {
	s.spy.note("exchange", b)
	return s.System.Exchange(a, b)
}

func (s spySystem) Create(name, near string) (disk.NewFile, error) {
	file, err := s.System.Create(name, near)
	if err != nil {
		return nil, err
	}
	s.spy.note("create", name, "near", near)
	return spyFile{file, s.spy, name}, nil
}

type spyFile struct {
	disk.NewFile
	spy  *spy
	name string
}

func (f spyFile) Write(p []byte) (int, error) {
	f.spy.note("write", f.name)
	return f.NewFile.Write(p)
}

func (f spyFile) Sync() error {
	f.spy.note("sync", f.name)
	return f.NewFile.Sync()
}

// TestBulk_durable: with handles too, every new file is synced after it is written and before the plan, and every
// directory between the exchanges and the commit mark.
func TestBulk_durable(t *testing.T) {
	t.Parallel()
	root := rootFs(t)
	if rootfs.NewBulk(root.(*rootfs.FS)) == nil {
		t.Skip("this kernel has no openat2")
	}
	plant(t, root, "a/one=1", "a/two=2", "b/c/three=3")
	spy := new(spy)
	o := commit.Options{FS: root, StateDir: stateDir, Key: testKey}
	o.Opened(spy.watch)
	changed := []string{"a/one", "a/two", "b/c/three"}
	r, err := commit.Apply(t.Context(), o, staged(t, root, func(s *stage.Stage) error {
		for _, name := range append(slices.Clone(changed), "b/new") {
			if err := afero.WriteFile(s, name, []byte("new "+name), 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
	if err != nil || !r.Committed || r.Guarantee != commit.PowerLoss {
		t.Fatal(r, err)
	}
	at := func(note string) int { return slices.Index(spy.notes, note) }
	plan, done := at("rename plan.tmp plan"), at("rename plan done")
	if plan < 0 || done < plan {
		t.Fatal(spy.notes)
	}
	made := 0
	for _, note := range spy.notes {
		words := strings.Fields(note)
		if words[0] != "create" {
			continue
		}
		made++
		if w, s := at("write "+words[1]), at("sync "+words[1]); w < 0 || s < w || s > plan {
			t.Errorf("%s is written at %d and synced at %d, the plan is at %d", words[1], w, s, plan)
		}
		if near := words[len(words)-1]; near != "near" && !slices.Contains(changed, near) {
			t.Errorf("%s is made beside %s", words[1], near)
		}
	}
	if made != 4 {
		t.Errorf("%d files were made, want 4", made)
	}
	for _, name := range changed {
		if x := at("exchange " + name); x < plan || x > done {
			t.Errorf("%s is exchanged at %d", name, x)
		}
	}
	for _, dir := range []string{"a", "b", "b/c"} {
		if s := at("syncdir " + dir); s < at("exchange b/c/three") || s > done {
			t.Errorf("%s is synced at %d", dir, s)
		}
	}
}
