package commit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// attrChange is a change of attributes by another program.
type attrChange struct {
	do   func(full string) error
	kept func(full string) bool
	// late reports whether the change comes too late to be seen right before that operation.
	late  func(op, name string) bool
	files bool // only for files, and not kept if a new file is undone
}

func attrChanges(t *testing.T) map[string]attrChange {
	t.Helper()
	all := map[string]attrChange{
		"chmod": {
			do: func(full string) error { return os.Chmod(full, 0o710) },
			kept: func(full string) bool {
				info, err := os.Lstat(full)
				return err == nil && info.Mode().Perm() == 0o710
			},
			late: func(op, _ string) bool { return op == "chmod" },
		},
		"setxattr": {
			do: func(full string) error {
				var before, after unix.Stat_t
				if err := unix.Lstat(full, &before); err != nil {
					return err
				}
				// If the clock of the file system ticks slowly, two changes may have the same time.
				for i := 0; after.Ctim.Nano() <= before.Ctim.Nano(); i++ {
					err := errors.Join(unix.Setxattr(full, "user.note", fmt.Append(nil, i), 0), unix.Lstat(full, &after))
					if err != nil {
						return err
					}
				}
				return nil
			},
			kept: func(full string) bool {
				n, err := unix.Getxattr(full, "user.note", nil)
				return err == nil && n > 0
			},
			late: func(op, name string) bool {
				justLinked := op == "lstat" && strings.Contains(name, "/old/")
				return justLinked || slices.Contains([]string{"exchange", "link", "rename"}, op)
			},
			files: true,
		},
	}
	if os.Geteuid() == 0 {
		all["chown"] = attrChange{
			do: func(full string) error { return os.Lchown(full, 12, 34) },
			kept: func(full string) bool {
				var st unix.Stat_t
				return unix.Lstat(full, &st) == nil && st.Uid == 12 && st.Gid == 34
			},
			late: func(string, string) bool { return false },
		}
	}
	return all
}

// TestForeignAttributes has another program change permissions, owner or an attribute of a path before each operation
// of a commit, and of a commit that is undone. Afterwards that change is in place, or the path is gone; the old
// attribute never returns.
func TestForeignAttributes(t *testing.T) {
	t.Parallel()
	do := steps(write("a", "A"), write("e", "E"), remove("b"), rename("m", "n"), chmod("c", 0o600), chmod("d", 0o700), rename("d/x", "a2"))
	for what, change := range attrChanges(t) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			if err := unix.Setxattr(dir, "user.note", []byte("1"), 0); what == "setxattr" && err != nil {
				t.Skip("this file system has no such attributes: ", err)
			}
			told, runs := 0, 0
			for _, name := range []string{"a", "b", "m", "c", "d", "e"} {
				if name == "d" && change.files {
					continue
				}
				for _, fails := range []func(at int) int{
					func(int) int { return 0 },
					func(at int) int { return at - 1 - at*7%60 },
					func(at int) int { return at + 1 + at*7%30 },
				} {
					if fails(100) != 0 && change.files {
						continue
					}
					eachMoment(t, fstest.Slowed(25, fstest.ByItself(15, 5)), func(at int) bool {
						reached, conflict := attrMoment(t, do, change, name, at, fails(at))
						if reached {
							runs++
						}
						if conflict {
							told++
						}
						return reached
					})
				}
			}
			fstest.Countf(t, "%d runs, %d with conflicts", runs, told)
			if told == 0 || told == runs {
				t.Errorf("%d of %d runs met a conflict", told, runs)
			}
		})
	}
}

// attrMoment changes the attributes of a path before one operation. The operation numbered fails returns an error, none
// for 0.
func attrMoment(t *testing.T, do func(*stage.Stage) error, change attrChange, name string, at, fails int) (reached, conflict bool) {
	t.Helper()
	dir := fstest.TempDir(t)
	fsys, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	plant(t, fsys, "a=1", "b=1", "m=1", "c=1", "d/x=1", "e=1")
	h, moment, where, did := &hooks{}, "", "", false
	o, changes := options(withHooks(fsys, h)), staged(t, fsys, do)
	o.Workers = 1
	h.before = func(n int, op string, _ bool, at2 string) error {
		if n == at {
			reached, moment, where = true, op, at2
			did = change.do(filepath.Join(dir, name)) == nil
		}
		if n == fails {
			return errKilled
		}
		return nil
	}
	rep, err := commit.Apply(bg, o, changes)
	if _, ok := errors.AsType[*commit.Conflict](err); ok {
		conflict = true
	}
	if _, rerr := commit.Recover(bg, options(fsys)); rerr != nil {
		if _, ok := errors.AsType[*commit.RollbackConflict](rerr); !ok {
			t.Fatal(rerr)
		}
	}
	if rep.Committed && name == "m" {
		name = "n"
	}
	_, serr := fsys.Stat(name)
	switch {
	case !did || errors.Is(serr, fs.ErrNotExist):
	case change.kept(filepath.Join(dir, name)), change.late(moment, where):
	default:
		t.Errorf("%s at %d, before %s of %s (%d fails): %+v, %v: the other program's change is undone", name, at, moment, where, fails, rep, err)
	}
	if data, err := afero.ReadFile(fsys, "e"); err != nil || string(data) != "E" && rep.Committed || string(data) != "e1" && !rep.Committed {
		t.Errorf("e is %q, %v; %+v", data, err, rep)
	}
	return reached, conflict
}

// TestForeignAttributes_exchange has another program change permissions exactly during the exchange, after the check
// right before it.
func TestForeignAttributes_exchange(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	fsys, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	plant(t, fsys, "a=1")
	h, met := &hooks{}, false
	o, changes := options(withHooks(fsys, h)), staged(t, fsys, write("a", "A"))
	phase := ""
	o.Observe = func(p string) { phase = p }
	h.before = func(_ int, op string, _ bool, _ string) error {
		if phase != "apply" || op != "exchange" || met {
			return nil
		}
		met = true
		return os.Chmod(filepath.Join(dir, "a"), 0o710)
	}
	_, err = commit.Apply(bg, o, changes)
	if !met {
		t.Skip("this file system cannot exchange")
	}
	info, serr := fsys.Stat("a")
	if _, ok := errors.AsType[*commit.Conflict](err); !ok || serr != nil || info.Mode().Perm() != 0o710 {
		t.Errorf("error is %v, the file %v, %v", err, info, serr)
	}
}
