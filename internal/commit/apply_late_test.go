package commit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestApply_late has another program change the tree after it was verified. The other program's files stay, and
// everything else is as before. The commit had not touched any of them, so nothing is kept for the other program.
func TestApply_late(t *testing.T) {
	t.Parallel()
	foreign := func(name string) func(afero.Fs) error {
		return func(f afero.Fs) error { return afero.WriteFile(f, name, []byte(foreignText), 0o644) }
	}
	tests := []struct {
		name string
		do   func(s *stage.Stage) error
		foul func(f afero.Fs) error
		path string
	}{
		{"replaced", write("b", "B"), foreign("b"), "b"},
		{"deleted", remove("b"), foreign("b"), "b"},
		{"created", write("n", "N"), foreign("n"), "n"},
		{"moved", rename("b", "n"), foreign("b"), "b"},
		{"moved to", rename("b", "n"), foreign("n"), "n"},
		{"chmod", chmod("b", 0o600), foreign("b"), "b"},
		{"directory made", mkdir("n"), func(f afero.Fs) error { return f.Mkdir("n", 0o755) }, "n"},
		{"directory removed", remove("d"), foreign("d/new"), "d"},
		{"gone", write("b", "B"), func(f afero.Fs) error { return f.Remove("b") }, "b"},
		{"gone already", remove("b"), func(f afero.Fs) error { return f.Remove("b") }, "b"},
	}
	for name, make := range backends() {
		for _, tt := range tests {
			for _, phase := range []string{"backup", "apply"} {
				t.Run(name+"/"+tt.name+"/"+phase, func(t *testing.T) {
					t.Parallel()
					fsys := make(t)
					plant(t, fsys, "a=1", "b=2", "d/e=3", "z=4")
					changes := staged(t, fsys, steps(write("a", "A"), tt.do, write("z", "Z")))
					var before map[string]string
					o := options(fsys)
					o.Observe = func(p string) {
						if p == phase {
							if err := tt.foul(fsys); err != nil {
								t.Error(err)
							}
							before = snapshot(t, fsys, false)
						}
					}
					rep, err := commit.Apply(bg, o, changes)
					c, ok := errors.AsType[*commit.Conflict](err)
					if !ok || len(c.Paths) != 1 || c.Paths[0].Path != tt.path {
						t.Fatalf("error is %v", err)
					}
					if _, ok := errors.AsType[*commit.RollbackError](err); ok {
						t.Errorf("not rolled back: %v", err)
					}
					if phase == "apply" && !rep.RolledBack {
						t.Errorf("report %+v", rep)
					}
					got := snapshot(t, fsys, false)
					if _, there := before[tt.path]; !there && (tt.name == "gone already" || name == "rawmem" || name == "plain") {
						// The undo cannot detect that another program has removed the file, and restores it.
						delete(got, tt.path)
					}
					if diff := cmp.Diff(before, got); diff != "" {
						t.Errorf("-want +got:\n%s", diff)
					}
					if ok, _ := afero.Exists(fsys, stateDir); ok {
						t.Error("state directory is left")
					}
				})
			}
		}
	}
}

// TestApply_earlyEnough checks that a file that is changed before its image is taken is noticed before the tree is
// touched.
func TestApply_earlyEnough(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		fsys := make(t)
		plant(t, fsys, "a=1")
		changes := staged(t, fsys, write("a", "A"))
		o := options(fsys)
		o.Observe = func(p string) {
			if p == "backup" {
				foreignWrite(fsys, "a", false)
			}
			if p == "apply" {
				t.Errorf("%s: was applied", name)
			}
		}
		if _, err := commit.Apply(bg, o, changes); err == nil {
			t.Errorf("%s: was committed", name)
		}
	}
}

// TestApply_sameTick writes to a file so soon after its last change that size and time stay the same.
func TestApply_sameTick(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		fsys := make(t)
		now := time.Now()
		if err := errors.Join(afero.WriteFile(fsys, "a", []byte("one"), 0o644), fsys.Chtimes("a", now, now)); err != nil {
			t.Fatal(err)
		}
		o := options(fsys)
		o.Observe = func(p string) {
			if p == "apply" {
				if err := errors.Join(afero.WriteFile(fsys, "a", []byte("two"), 0o644), fsys.Chtimes("a", now, now)); err != nil {
					t.Error(err)
				}
			}
		}
		_, err := commit.Apply(bg, o, staged(t, fsys, write("a", "A")))
		if _, ok := errors.AsType[*commit.Conflict](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
		if data, _ := afero.ReadFile(fsys, "a"); string(data) != "two" {
			t.Errorf("%s: a is %q", name, data)
		}
	}
}

// TestApply_otherContent commits a change whose bytes do not match its hash.
func TestApply_otherContent(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		fsys := make(t)
		s := change.State{Kind: change.File, Mode: 0o644, Size: 3, Hash: change.HashOf([]byte("one"))}
		c := change.Change{Kind: change.Created, Path: "n", New: s}
		c.NewBytes = backing.Bytes([]byte("two"))
		_, err := commit.Apply(bg, options(fsys), []change.Change{c})
		if _, ok := errors.AsType[*commit.Conflict](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
		if ok, _ := afero.Exists(fsys, "n"); ok {
			t.Errorf("%s: was written", name)
		}
	}
}

// TestApply_readSince skips hashing only for files that have not changed since.
func TestApply_readSince(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "old=1", "new=2")
	changes := staged(t, fsys, steps(write("old", "x"), write("new", "x")))
	for i := range changes {
		// Pretend that the bytes were different; only hashing reveals that.
		changes[i].Old.Hash = change.HashOf(nil)
	}
	for i := range changes {
		if changes[i].Path == "new" {
			changes[i].Old.ModTime = time.Now()
			if err := fsys.Chtimes("new", changes[i].Old.ModTime, changes[i].Old.ModTime); err != nil {
				t.Fatal(err)
			}
			info, err := fsys.Stat("new")
			if err != nil {
				t.Fatal(err)
			}
			changes[i].Old.ID, _ = fsys.(capability.Identifier).IdentityOf(info)
		}
	}
	o := options(fsys)
	_, err := commit.Apply(bg, o, changes)
	if c, ok := errors.AsType[*commit.Conflict](err); !ok || len(c.Paths) != 2 {
		t.Errorf("without the time at which the files were read, the error is %v", err)
	}
	o.ReadSince = time.Now()
	_, err = commit.Apply(bg, o, changes)
	c, ok := errors.AsType[*commit.Conflict](err)
	if !ok || len(c.Paths) != 1 || c.Paths[0].Path != "new" {
		t.Errorf("error is %v", err)
	}
}
