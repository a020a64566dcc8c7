package commit_test

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestApply_drift has another program act between two checks of the same path, wherever something is first described
// and then read. The change is reported at its path, and the other program's file stays.
func TestApply_drift(t *testing.T) {
	t.Parallel()
	gone := func(f afero.Fs, name string) error { return f.Remove(name) }
	toDir := func(f afero.Fs, name string) error { return errors.Join(f.Remove(name), f.Mkdir(name, 0o755)) }
	other := func(f afero.Fs, name string) error {
		return errors.Join(afero.WriteFile(f, name+"~", []byte("B2"), 0o644), f.Chtimes(name+"~", longAgo, longAgo), f.Rename(name+"~", name))
	}
	relink := func(f afero.Fs, name string) error {
		return errors.Join(f.Remove(name), f.(afero.Linker).SymlinkIfPossible("b", name))
	}
	tests := []struct {
		name, backend string
		do            func(s *stage.Stage) error
		phase, op     string // "" for the beginning of the phase
		path          string
		foul          func(f afero.Fs, name string) error
	}{
		{"removed before it is read", "root", write("b", "B"), "verify", "open", "b", gone},
		{"made a directory before it is read", "root", write("b", "B"), "verify", "open", "b", toDir},
		{"link removed before it is read", "root", remove("l"), "verify", "readlink", "l", gone},
		{"link leads elsewhere", "root", remove("l"), "verify", "", "l", relink},
		{"made a directory before it is copied", "plain", write("b", "B"), "backup", "open", "b", toDir},
		{"removed before it is copied", "plain", write("b", "B"), "backup", "open", "b", gone},
		{"removed when its owner is asked for", "root", write("b", "B"), "stage", "copymeta", "b", gone},
		{"another file of that size", "root", write("b", "B"), "apply", "", "b", other},
		{"removed before it is compared", "plain", write("b", "B"), "apply", "open", "b", gone},
		{"changed before its mode is", "root", chmod("b", 0o600), "verify", "", "b", other},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := backends()[tt.backend](t)
			plant(t, fsys, "a=1", "b=2", "l -> a")
			tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, steps(write("a", "A"), tt.do))}
			on := tt.path
			if tt.op == "copymeta" {
				on = "/new/" + journal.Slot(1) // the target of the copy
			}
			want, met, now := map[string]string(nil), false, ""
			foul := func() error {
				met = true
				err := tt.foul(fsys, tt.path)
				want = snapshot(t, fsys, false)
				return err
			}
			o := tr.options()
			o.Observe = func(phase string) {
				if now = phase; phase == tt.phase && tt.op == "" {
					if err := foul(); err != nil {
						t.Error(err)
					}
				}
			}
			tr.hooks.before = func(_ int, op string, _ bool, name string) error {
				if met || now != tt.phase || op != tt.op || !strings.HasSuffix(name, on) {
					return nil
				}
				return foul()
			}
			rep, err := commit.Apply(bg, o, tr.changes)
			c, ok := errors.AsType[*commit.Conflict](err)
			if !met || !ok || len(c.Paths) != 1 || c.Paths[0].Path != tt.path {
				t.Fatalf("met %v, %+v, error is %v", met, rep, err)
			}
			got := snapshot(t, fsys, false)
			want["a"] = got["a"] // the commit may already have been at work when the tree was inspected
			if _, there := want[tt.path]; !there && tt.phase == "apply" {
				delete(got, tt.path) // the undo cannot detect that another program has removed it, and restores it
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if data, _ := afero.ReadFile(fsys, "a"); string(data) != "a1" {
				t.Errorf("a is %q", data)
			}
		})
	}
}

// TestApply_unread has changes of files of which only size and time are known, because they were not read.
func TestApply_unread(t *testing.T) {
	t.Parallel()
	for name, foul := range map[string]func(f afero.Fs) error{
		"size": func(f afero.Fs) error {
			return errors.Join(afero.WriteFile(f, "a", []byte("longer"), 0o644), f.Chtimes("a", longAgo, longAgo))
		},
		"time":    func(f afero.Fs) error { return f.Chtimes("a", longAgo.Add(1e9), longAgo.Add(1e9)) },
		"nothing": func(afero.Fs) error { return nil },
	} {
		fsys := rootFs(t)
		plant(t, fsys, "a=1")
		if err := foul(fsys); err != nil {
			t.Fatal(err)
		}
		old := fileState("a1")
		old.Hash = change.Hash{}
		c := change.Change{Kind: change.Modified, Path: "a", Old: old, New: fileState("new")}
		c.NewBytes = backing.Bytes([]byte("new"))
		_, err := commit.Apply(bg, options(fsys), []change.Change{c})
		if bad, ok := errors.AsType[*commit.Conflict](err); name == "nothing" && err != nil || name != "nothing" && (!ok || bad.Paths[0].Path != "a") {
			t.Errorf("%s: error is %v", name, err)
		}
		if data, _ := afero.ReadFile(fsys, "a"); string(data) == "new" != (name == "nothing") {
			t.Errorf("%s: a is %q", name, data)
		}
	}
}

// TestApply_sourceDrift commits content that can no longer be made, because its source file has changed.
func TestApply_sourceDrift(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1")
	before := snapshot(t, fsys, true)
	c := change.Change{Kind: change.Created, Path: "n", New: fileState("new")}
	c.NewBytes = func() (io.ReadCloser, error) {
		return nil, &fs.PathError{Op: "read", Path: "a", Err: names.ErrDrift}
	}
	_, err := commit.Apply(bg, options(fsys), []change.Change{c})
	if c, ok := errors.AsType[*commit.Conflict](err); !ok || c.Paths[0].Path != "n" {
		t.Errorf("error is %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, fsys, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCheck: it sets only the identity of a file that has not changed. Other details of the old state decide whether a
// change of the times alone is a change.
func TestCheck(t *testing.T) {
	t.Parallel()
	for kind, open := range backends() {
		fsys := open(t)
		plant(t, fsys, "touched=1", "same=2", "moved=3", "edited=4", "wrong=5")
		changes := staged(t, fsys, steps(touch("touched", time.Unix(5, 0)), write("same", "x"), rename("moved", "new"),
			write("edited", "x"), write("wrong", "x")))
		for i := range changes {
			changes[i].Old.ID = capability.Identity{}
		}
		want := slices.Clone(changes)
		for _, name := range []string{"touched", "edited"} {
			if err := fsys.Chtimes(name, time.Unix(9, 0), time.Unix(9, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if err := afero.WriteFile(fsys, "wrong", []byte("other"), 0o644); err != nil {
			t.Fatal(err)
		}
		err := commit.Check(bg, options(fsys), changes)
		if c, ok := errors.AsType[*commit.Conflict](err); !ok || len(c.Paths) != 1 || c.Paths[0].Path != "wrong" {
			t.Errorf("%s: error is %v", kind, err)
		}
		identifier, ok := fsys.(capability.Identifier)
		for i, c := range changes {
			if ok && c.OldPath() != "wrong" {
				info, err := fsys.Stat(c.OldPath())
				if err != nil {
					t.Fatal(err)
				}
				want[i].Old.ID, _ = identifier.IdentityOf(info)
			}
			if c.Old != want[i].Old {
				t.Errorf("%s: %s: old state is %+v, want %+v", kind, c.Path, c.Old, want[i].Old)
			}
		}
	}
}
