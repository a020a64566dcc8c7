package backups_test

import (
	"errors"
	"os"
	"testing"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestRestore_owner returns every file to its owner, even if another file took its place.
func TestRestore_owner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	tests := map[string]func(s *stage.Stage) error{
		"edit":                 func(s *stage.Stage) error { return write(s, "a", "A") },
		"delete":               func(s *stage.Stage) error { return errors.Join(s.Remove("a"), s.Remove("b")) },
		"rename":               func(s *stage.Stage) error { return s.Rename("a", "c") },
		"rename over":          func(s *stage.Stage) error { return s.Rename("a", "b") },
		"rename over and edit": func(s *stage.Stage) error { return errors.Join(s.Rename("a", "b"), write(s, "b", "C")) },
		"swap": func(s *stage.Stage) error {
			return errors.Join(s.Rename("a", "t"), s.Rename("b", "a"), s.Rename("t", "b"))
		},
		"swap and edit": func(s *stage.Stage) error {
			return errors.Join(s.Rename("a", "t"), s.Rename("b", "a"), s.Rename("t", "b"), write(s, "a", "C"))
		},
		"directory in its place": func(s *stage.Stage) error {
			return errors.Join(s.Remove("a"), s.Mkdir("a", 0o755), write(s, "a/x", "x"))
		},
		"link in its place": func(s *stage.Stage) error { return errors.Join(s.Remove("a"), s.SymlinkIfPossible("b", "a")) },
	}
	for name, do := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := backends(t)["root"]
			owners := map[string]uint32{"a": 1234, "b": 2345}
			for file, owner := range owners {
				put(t, fsys, file, "bytes of "+file, 0o640)
				must(t, fsys.Chown(file, int(owner), int(owner)+1))
			}
			id := change(t, options(fsys), do)
			_, err := restore(t, fsys, id)
			must(t, err)
			for file, owner := range owners {
				info, err := fsys.Stat(file)
				must(t, err)
				is, ok := fsys.(capability.Identifier).IdentityOf(info)
				if !ok || is.UID != owner || is.GID != owner+1 {
					t.Errorf("%s belongs to %d:%d, want %d:%d", file, is.UID, is.GID, owner, owner+1)
				}
			}
		})
	}
}
