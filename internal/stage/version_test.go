package stage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// versionOf returns the version of a name, and checks that both methods for it return the same.
func versionOf(t *testing.T, s *stage.Stage, name string) stage.Version {
	t.Helper()
	v, err := s.Version(name)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := handle.ReadDir(s, filepath.ToSlash(filepath.Dir(name)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(name) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if in, _, _, err := s.VersionIn(name, info); err != nil || in != v {
			t.Errorf("%s is %x by name and %x in its listing, %v", name, v, in, err)
		}
	}
	return v
}

// bases are a tree on disk, old enough to be identified by its times, and one in memory.
func bases(t *testing.T) map[string]afero.Fs {
	t.Helper()
	dir := t.TempDir()
	disk, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	both := map[string]afero.Fs{"disk": disk, "memory": afero.NewMemMapFs()}
	for _, fsys := range both {
		for name, text := range map[string]string{"a": "one", "b": "two", "d/c": "one", "d/e/f": "six"} {
			if err := errors.Join(fsys.MkdirAll(filepath.Dir(name), 0o755),
				afero.WriteFile(fsys, name, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := disk.SymlinkIfPossible("a", "l"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(150 * time.Millisecond)
	return both
}

func TestStage_Version(t *testing.T) {
	t.Parallel()
	for kind, base := range bases(t) {
		s := stage.New(base)
		defer s.Close()
		start := versionOf(t, s, "a")
		differ := make(map[stage.Version]string)
		first := func(what string, v stage.Version) {
			t.Helper()
			if other, there := differ[v]; there {
				t.Errorf("%s: %s has the version of %s", kind, what, other)
			}
			differ[v] = what
		}
		first("a", start)
		first("b", versionOf(t, s, "b"))
		first("d", versionOf(t, s, "d"))
		p := s.Savepoint()
		do := func(what string, err error) stage.Version {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			v := versionOf(t, s, "a")
			first(what, v)
			return v
		}
		edited := do("a edited", s.Edit("a", []change.Splice{{Off: 3, Text: []byte("!")}}))
		do("a of another mode", s.Chmod("a", 0o600))
		do("a of another time", s.Chtimes("a", time.Time{}, time.Unix(1, 0)))
		s.Rollback(p)
		if v := versionOf(t, s, "a"); v != start {
			t.Errorf("%s: after a rollback it is %x, was %x", kind, v, start)
		}

		// The same bytes, written in another way, are the same version.
		if err := afero.WriteFile(s, "a", []byte("one!"), 0o644); err != nil {
			t.Fatal(err)
		}
		if v := versionOf(t, s, "a"); v != edited {
			t.Errorf("%s: the same bytes are %x and %x", kind, v, edited)
		}
		s.Rollback(p)

		// A moved file keeps its version, and a new file at its old place has its own.
		c, f := versionOf(t, s, "d/c"), versionOf(t, s, "d/e/f")
		if err := errors.Join(s.Rename("d", "z"), s.Rename("z/e/f", "z/c")); err != nil {
			t.Fatal(err)
		}
		if v := versionOf(t, s, "z/c"); v != f || v == c {
			t.Errorf("%s: a file that was renamed is %x, was %x", kind, v, f)
		}
		if _, err := s.Version("d/c"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: nothing has a version, %v", kind, err)
		}
		if _, err := s.Version("../a"); err == nil {
			t.Errorf("%s: a name that leads out has a version", kind)
		}

		// In a later run.
		again := stage.New(base)
		defer again.Close()
		if v := versionOf(t, again, "a"); (v == start) != (kind == "disk") {
			t.Errorf("%s: in the next run it is %x, was %x", kind, v, start)
		}
	}
}

// Files in memory with the same size and time change places, each with its own bytes.
func TestStage_Version_places(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	for _, name := range []string{"x/a", "y/a"} {
		if err := errors.Join(afero.WriteFile(base, name, []byte(name), 0o644),
			base.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0))); err != nil {
			t.Fatal(err)
		}
	}
	s := stage.New(base)
	defer s.Close()
	before := versionOf(t, s, "x/a")
	if err := errors.Join(s.Rename("x", "z"), s.Rename("y", "x")); err != nil {
		t.Fatal(err)
	}
	if v := versionOf(t, s, "x/a"); v == before {
		t.Error("another file of the same size and time has the same version")
	}
	if v := versionOf(t, s, "z/a"); v != before {
		t.Error("a directory that was renamed has changed the version of its file")
	}
}

// A file that was written just before a run may be written once more with the same time, so its times prove nothing
// later.
func TestStage_Version_recent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	base, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	s, again := stage.New(base), stage.New(base)
	defer s.Close()
	defer again.Close()
	a, b := versionOf(t, s, "a"), versionOf(t, again, "a")
	if a == b {
		t.Error("a file that is as new as the run is identified by its times")
	}
	if versionOf(t, s, "a") != a {
		t.Error("within a run the version changes")
	}
}

func TestStage_Version_guard(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	if err := afero.WriteFile(base, "secret/a", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := stage.New(base)
	defer s.Close()
	s.SetGuard(guard.Policy{Denied: []string{"secret/**"}})
	if _, err := s.Version("secret/a"); !errors.Is(err, names.ErrDenied) {
		t.Errorf("Version of a denied path: %v", err)
	}
}
