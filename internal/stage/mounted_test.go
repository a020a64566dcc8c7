package stage_test

import (
	"errors"
	"os"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/memfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// mountedFs is a file system in memory with mount points.
type mountedFs struct {
	*memfs.FS
	points []string
}

// MountPoints returns the paths of the mount points.
func (m *mountedFs) MountPoints() []string { return m.points }

// The step that would replace, move or remove a mount point fails, before any commit. In place, the bytes of a file can
// be changed.
func TestStage_RefuseMounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		inPlace bool // whether it can be done in place
		do      func(s *stage.Stage) error
	}{
		{"write", true, func(s *stage.Stage) error {
			f, err := s.OpenFile("f", os.O_WRONLY|os.O_TRUNC, 0o644)
			if err == nil {
				err = f.Close()
			}
			return err
		}},
		{"remove", false, func(s *stage.Stage) error { return s.Remove("f") }},
		{"rename", false, func(s *stage.Stage) error { return s.Rename("f", "h") }},
		{"rename onto it", false, func(s *stage.Stage) error { return s.Rename("g", "f") }},
		{"remove a directory", false, func(s *stage.Stage) error { return s.RemoveAll("d") }},
		{"rename a directory", false, func(s *stage.Stage) error { return s.Rename("d", "e") }},
	} {
		for _, inPlace := range []bool{false, true} {
			mem := new(afero.MemMapFs)
			for _, name := range []string{"f", "g", "d/f"} {
				fstest.Must(t, afero.WriteFile(mem, name, []byte("old"), 0o644))
			}
			s := stage.New(&mountedFs{memfs.New(mem).(*memfs.FS), []string{"f", "d/f"}})
			s.RefuseMounted(inPlace)
			if err := test.do(s); errors.Is(err, capability.ErrMountPoint) == (inPlace && test.inPlace) {
				t.Errorf("%s, in place %v: %v", test.name, inPlace, err)
			}
			fstest.Must(t, s.Close())
		}
	}
}
