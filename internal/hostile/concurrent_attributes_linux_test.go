package hostile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
)

// TestHostile_permissions_changed_while_a_commit_runs has another program change a file's permissions, owner or an
// attribute when a phase of the commit begins. That change stays in every phase; before the file is replaced it is a
// conflict.
func TestHostile_permissions_changed_while_a_commit_runs(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for what, change := range map[string]func(full string) error{
		"chmod": func(full string) error { return os.Chmod(full, 0o600) },
		"chown": func(full string) error { return os.Chown(full, 12, 34) },
		"setxattr": func(full string) error {
			var before, after unix.Stat_t
			must(t, unix.Stat(full, &before), unix.Stat(full, &after))
			for i := byte(0); after.Ctim == before.Ctim; i++ {
				must(t, unix.Setxattr(full, "user.note", []byte{i}, 0), unix.Stat(full, &after))
			}
			return nil
		},
	} {
		for _, phase := range []string{"stage", "backup", "journal", "apply", "sync", "commit", "clean"} {
			t.Run(what+"/"+phase, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				plantDir(t, dir, "secret=the needle", "z=the needle")
				full := filepath.Join(dir, "secret")
				if err := unix.Setxattr(dir, "user.note", nil, 0); err != nil && what == "setxattr" {
					t.Skip("this file system has no such attributes: ", err)
				}
				x := host()
				x.Observe = func(e millrace.Event) {
					if p, ok := e.(millrace.CommitPhase); ok && p.Phase == phase {
						must(t, change(full))
					}
				}
				_, err := x.Run(t.Context(), openDir(t, dir), decoded(t,
					editFile("secret", "needle", "pin"), editFile("z", "needle", "pin", id("z"))))
				_, isConflict := errors.AsType[*millrace.ConflictError](err)
				want := map[string]string{"secret": "the needle", "z": "the needle"}
				switch phase {
				case "sync", "commit", "clean":
					want = map[string]string{"secret": "the pin", "z": "the pin"}
					must(t, err)
				default:
					if !isConflict {
						t.Errorf("error is %v", err)
					}
				}
				for name, text := range want {
					if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != text {
						t.Errorf("%s is %q, %v; want %q", name, data, err, text)
					}
				}
				var is unix.Stat_t
				must(t, unix.Stat(full, &is))
				note, _ := unix.Getxattr(full, "user.note", nil)
				if is.Mode&0o777 != 0o600 && what == "chmod" || is.Uid != 12 && what == "chown" || note < 1 && what == "setxattr" {
					t.Errorf("the other program's change is undone: mode %o, owner %d, %d bytes of an attribute; %v", is.Mode&0o777, is.Uid, note, err)
				}
			})
		}
	}
}
