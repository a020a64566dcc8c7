package stage_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// strangersFs is a tree in which this user owns nothing.
type strangersFs struct{ *rootfs.FS }

func (strangersFs) Owns(capability.Identity) bool { return false }

// In a directory of others with the sticky bit, nothing is removed or replaced, and no mode or time of an entry of
// others is changed. A new file there belongs to this user.
func TestStage_RefuseForeign_sticky(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base := strangersFs{fstest.OpenRoot(t, dir)}
	for _, name := range []string{"d/f", "d/sub/g", "open/f"} {
		fstest.Must(t, base.MkdirAll(filepath.Dir(name), 0o755))
		fstest.Must(t, afero.WriteFile(base, name, []byte("old"), 0o644))
	}
	fstest.Must(t, base.Chmod("d", 0o777|fs.ModeSticky))
	steps := map[string]func(s *stage.Stage) error{
		"remove":     func(s *stage.Stage) error { return s.Remove("d/f") },
		"rename":     func(s *stage.Stage) error { return s.Rename("d/f", "n") },
		"replace":    func(s *stage.Stage) error { return s.Rename("open/f", "d/f") },
		"write":      func(s *stage.Stage) error { return afero.WriteFile(s, "d/f", []byte("new"), 0o644) },
		"remove all": func(s *stage.Stage) error { return s.RemoveAll("d") },
		"move all":   func(s *stage.Stage) error { return s.Rename("d", "n") },
		"chmod":      func(s *stage.Stage) error { return s.Chmod("open/f", 0o600) },
	}
	for name, step := range steps {
		s := stage.New(base)
		s.RefuseForeign()
		if err := step(s); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
		if err := step(stage.New(base)); err != nil {
			t.Errorf("%s, if that is not refused: %v", name, err)
		}
	}
	s := stage.New(base)
	s.RefuseForeign()
	fstest.Must(t, afero.WriteFile(s, "d/new", []byte("new"), 0o644))
	fstest.Must(t, s.Remove("d/new"))
	fstest.Must(t, s.Remove("open/f"))
	fstest.Must(t, afero.WriteFile(s, "open/f", []byte("new"), 0o644))
	fstest.Must(t, s.Chmod("open/f", 0o600))
}

// lockedFs is a tree in which this process may not change the entries of the directory d.
type lockedFs struct{ *rootfs.FS }

func (lockedFs) MayChange(dir string) error {
	if dir == "d" {
		return fs.ErrPermission
	}
	return nil
}

// In a directory that this process may not write to, nothing is made, changed, replaced or removed.
func TestStage_RefuseForeign_locked(t *testing.T) {
	t.Parallel()
	base := lockedFs{fstest.OpenRoot(t, t.TempDir())}
	fstest.Must(t, base.MkdirAll("d", 0o755))
	for _, name := range []string{"d/f", "o"} {
		fstest.Must(t, afero.WriteFile(base, name, []byte("old"), 0o644))
	}
	steps := map[string]func(s *stage.Stage) error{
		"make":       func(s *stage.Stage) error { return afero.WriteFile(s, "d/n", []byte("new"), 0o644) },
		"write":      func(s *stage.Stage) error { return afero.WriteFile(s, "d/f", []byte("new"), 0o644) },
		"remove":     func(s *stage.Stage) error { return s.Remove("d/f") },
		"move away":  func(s *stage.Stage) error { return s.Rename("d/f", "n") },
		"move there": func(s *stage.Stage) error { return s.Rename("o", "d/n") },
		"replace":    func(s *stage.Stage) error { return s.Rename("o", "d/f") },
	}
	for name, step := range steps {
		s := stage.New(base)
		s.RefuseForeign()
		if err := step(s); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
		if err := step(stage.New(base)); err != nil {
			t.Errorf("%s, if that is not refused: %v", name, err)
		}
	}
}
