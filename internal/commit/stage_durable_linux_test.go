package commit_test

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// spyFs notes what a commit does on the fast path of a RootFs, which no simulated disk has.
type spyFs struct {
	*rootfs.FS
	mu    sync.Mutex
	notes []string
}

func (s *spyFs) note(words ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, strings.Join(words, " "))
}

func (s *spyFs) FastPath() rootfs.FastPath {
	fast := s.FS.FastPath()
	if fast == nil {
		return nil
	}
	return spyFast{fast, s}
}

func (s *spyFs) Rename(a, b string) error {
	s.note("rename", path.Base(a), path.Base(b))
	return s.FS.Rename(a, b)
}

type spyFast struct {
	rootfs.FastPath
	spy *spyFs
}

func (f spyFast) SyncDir(name string) error {
	f.spy.note("syncdir", name)
	return f.FastPath.SyncDir(name)
}

func (f spyFast) Exchange(a, b string) error {
	f.spy.note("exchange", b)
	return f.FastPath.Exchange(a, b)
}

func (f spyFast) CreateNear(near, name string, perm fs.FileMode) (rootfs.NewFile, error) {
	file, err := f.FastPath.CreateNear(near, name, perm)
	if err != nil {
		return nil, err
	}
	f.spy.note("create", name, "near", near)
	return spyFile{file, f.spy, name}, nil
}

type spyFile struct {
	rootfs.NewFile
	spy  *spyFs
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

// TestFastPath_durable: by handles too, every new file is synced after it is written and before the plan, and every directory
// between the exchanges and the mark of the commit.
func TestFastPath_durable(t *testing.T) {
	t.Parallel()
	spy := &spyFs{FS: rootFs(t).(*rootfs.FS)}
	if spy.FastPath() == nil {
		t.Skip("this kernel has no openat2")
	}
	plant(t, spy, "a/one=1", "a/two=2", "b/c/three=3")
	o := commit.Options{FS: spy, StateDir: stateDir, Key: testKey}
	changed := []string{"a/one", "a/two", "b/c/three"}
	r, err := commit.Apply(t.Context(), o, staged(t, spy, func(s *stage.Stage) error {
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
