package stage_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// Directories above allowed paths may be read and made, but not changed in other ways.
func TestStage_guardOnTheWay(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	fstest.Must(t, afero.WriteFile(base, "a", []byte("secret"), 0o644))
	s := stage.New(base)
	s.SetGuard(guard.Policy{Allowed: []string{"a/b", "d/e/f"}})
	if _, err := s.Stat("a"); err != nil {
		t.Errorf("Stat of a file where a directory would lead to what is allowed: %v", err)
	}
	if f, err := s.Open("a"); !errors.Is(err, names.ErrNotAllowed) || f != nil {
		t.Errorf("Open of that file: %v", err)
	}
	fstest.Must(t, s.MkdirAll("d/e/f/g", 0o755))
	for _, name := range []string{"d/x", "d/e/x/y", "x"} {
		if err := s.MkdirAll(name, 0o755); !errors.Is(err, names.ErrNotAllowed) {
			t.Errorf("MkdirAll(%q): %v", name, err)
		}
	}
	if err := s.SymlinkIfPossible("a\x00b", "d/e/f/l"); !errors.Is(err, names.ErrBadName) {
		t.Errorf("a link to a name with a NUL: %v", err)
	}
}

// A handle on a directory shows the entries at the time of opening, and opens only files.
func TestStage_OpenDir_staged(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	for _, name := range []string{"d/kept", "d/gone"} {
		fstest.Must(t, afero.WriteFile(base, name, []byte(name), 0o644))
	}
	s := stage.New(base)
	fstest.Must(t, s.Remove("d/gone"))
	fstest.Must(t, s.Mkdir("d/dir", 0o755))
	fstest.Must(t, s.SymlinkIfPossible("kept", "d/link"))
	fstest.Must(t, afero.WriteFile(s, "d/new", []byte("new"), 0o644))
	d := fstest.OpenDir(t, s, "d")
	for name, want := range map[string]error{
		"gone": fs.ErrNotExist, "missing": fs.ErrNotExist, "dir": names.ErrNotRegular, "link": names.ErrNotRegular,
		"../d/kept": names.ErrEscape, "": names.ErrEscape,
	} {
		if f, err := d.OpenFile(name); !errors.Is(err, want) || f != nil {
			t.Errorf("OpenFile(%q): %v, want %v", name, err, want)
		}
	}
	for name, want := range map[string]string{"kept": "d/kept", "new": "new"} {
		f, err := d.OpenFile(name)
		fstest.Must(t, err)
		if got, err := io.ReadAll(f); string(got) != want || err != nil {
			t.Errorf("%s: read %q, %v", name, got, err)
		}
		fstest.Must(t, f.Close())
	}
}

// Offered bytes are accepted only if they can be the bytes of the file, and never replace staged ones.
func TestStage_Remember_refused(t *testing.T) {
	t.Parallel()
	mem := afero.NewMemMapFs()
	fstest.Must(t, afero.WriteFile(mem, "f", []byte("right"), 0o644))
	fstest.Must(t, afero.WriteFile(mem, "d/f", []byte("right"), 0o644))
	info, err := mem.Stat("f")
	fstest.Must(t, err)
	dir, err := mem.Stat("d")
	fstest.Must(t, err)
	wrong := []byte("wrong")
	for name, offer := range map[string]func(s *stage.Stage){
		"info of a directory":   func(s *stage.Stage) { s.Remember("f", wrong, dir) },
		"bytes of another size": func(s *stage.Stage) { s.Remember("f", []byte("wrong size"), info) },
		"a bad name":            func(s *stage.Stage) { s.Remember("../f", wrong, info) },
		"the root":              func(s *stage.Stage) { s.Remember(".", wrong, info) },
		"below a file":          func(s *stage.Stage) { s.Remember("f/f", wrong, info) },
		"another time": func(s *stage.Stage) {
			_, err := s.ReadFile("f") // the run knows the file
			fstest.Must(t, err)
			s.Remember("f", wrong, timedInfo{info, info.ModTime().Add(time.Second)})
		},
		"a file that was written": func(s *stage.Stage) {
			fstest.Must(t, afero.WriteFile(s, "f", []byte("RIGHT"), 0o644))
			s.Remember("f", wrong, info)
			fstest.Must(t, afero.WriteFile(s, "f", []byte("right"), 0o644))
		},
		"a file in a directory that was made": func(s *stage.Stage) {
			fstest.Must(t, s.RemoveAll("d"))
			fstest.Must(t, s.Mkdir("d", 0o755))
			s.Remember("d/f", wrong, info)
			if _, err := s.ReadFile("d/f"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it has a file: %v", err)
			}
		},
		"bytes other than those read before": func(s *stage.Stage) {
			fstest.Must(t, s.Chmod("f", 0o600))
			_, err := s.ReadFile("f")
			fstest.Must(t, err)
			s.Remember("f", wrong, info)
		},
	} {
		s := stage.New(mem)
		offer(s)
		if got, err := s.ReadFile("f"); string(got) != "right" || err != nil {
			t.Errorf("%s: read %q, %v", name, got, err)
		}
	}
	// A correct offer saves reading, even for a file with other permissions.
	spy := newSpy(t, mem)
	s := stage.New(spy)
	fstest.Must(t, s.Chmod("f", 0o600))
	s.Remember("f", []byte("right"), info)
	if got, err := s.ReadFile("f"); string(got) != "right" || err != nil || spy.opens["f"] != 0 {
		t.Errorf("read %q, %v, opened %d times", got, err, spy.opens["f"])
	}
}

type timedInfo struct {
	os.FileInfo
	mtime time.Time
}

func (i timedInfo) ModTime() time.Time { return i.mtime }

func TestCheckWrite(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{
		"a/b": nil, "../a": names.ErrEscape, "/a": names.ErrAbsolute, "": names.ErrEmptyPath, ".": names.ErrBadName,
		"a//b": names.ErrBadName, "./a": names.ErrBadName, "a/": names.ErrBadName, ".git/config": names.ErrProtected,
		"state/x": names.ErrReserved,
	} {
		err := guard.Policy{Reserved: "state"}.CheckWrite(name)
		if (want == nil) != (err == nil) || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}
