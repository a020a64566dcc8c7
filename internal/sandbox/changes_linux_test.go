package sandbox_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/sandbox"
)

// changes are acts that change metadata of a file other than its name.
var changes = map[string]func(args []string) error{
	"chmod":    func(args []string) error { return unix.Fchmodat(unix.AT_FDCWD, args[0], 0o751, 0) },
	"chmod-at": func(args []string) error { return relative(args[0], chmodAt) },
	"fchmod": func(args []string) error {
		return opened(args[0], func(fd int) error { return unix.Fchmod(fd, 0o751) })
	},
	"chmod-fd": func(args []string) error { // with a descriptor that can neither be read nor written
		return relative(args[0], func(dir int, name string) error {
			fd, err := unix.Openat(dir, name, unix.O_PATH, 0)
			if err != nil {
				return err
			}
			return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o751)
		})
	},
	"chown": func(args []string) error { return unix.Lchown(args[0], os.Getuid(), os.Getgid()) },
	"fchown": func(args []string) error {
		return opened(args[0], func(fd int) error { return unix.Fchown(fd, os.Getuid(), -1) })
	},
	"times": func(args []string) error { return os.Chtimes(args[0], time.Unix(5, 6), time.Unix(7, 8)) },
	"touch": func(args []string) error { return unix.UtimesNanoAt(unix.AT_FDCWD, args[0], nil, 0) },
	"futimes": func(args []string) error {
		return opened(args[0], func(fd int) error {
			_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, 0, 0, 0, 0)
			return failed(errno)
		})
	},
	"setxattr": func(args []string) error { return unix.Setxattr(args[0], "user.millrace", []byte("x"), 0) },
	"setflags": func(args []string) error {
		return opened(args[0], func(fd int) error {
			flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
			if err != nil {
				return err
			}
			return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags)
		})
	},
	"swap": swap,
}

// outsideTree are the changes that are impossible inside.
var outsideTree = []string{"setxattr", "setflags"}

// swap changes the mode of a file in a directory, while another thread swaps a link out of the tree into its place and
// back.
func swap(args []string) error {
	name, link := filepath.Join(args[0], "d"), filepath.Join(args[0], "l")
	if err := errors.Join(os.Mkdir(name, 0o700), os.WriteFile(filepath.Join(name, "file"), nil, 0o600),
		os.Symlink(args[1], link)); err != nil {
		return err
	}
	go func() {
		for {
			_ = unix.Renameat2(unix.AT_FDCWD, name, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
		}
	}()
	done, refused := 0, 0
	for stop := time.Now().Add(10 * time.Second); (done < 200 || refused < 200) && time.Now().Before(stop); {
		if unix.Fchmodat(unix.AT_FDCWD, filepath.Join(name, "file"), 0o751, 0) == nil {
			done++
		} else {
			refused++
		}
	}
	if done == 0 || refused == 0 {
		return fmt.Errorf("%d changes done and %d refused", done, refused)
	}
	return nil
}

// chmodAt changes a mode by a relative path.
func chmodAt(dir int, name string) error { return unix.Fchmodat(dir, name, 0o751, 0) }

// relative calls do with a path relative to its directory.
func relative(path string, do func(dir int, name string) error) error {
	dir, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(do(dir, filepath.Base(path)), unix.Close(dir))
}

// filtered skips the test if calls are not filtered here.
func filtered(t *testing.T) {
	t.Helper()
	if protected(t).Network != "seccomp" {
		t.Skip("NOT TESTED: calls are not filtered here")
	}
}

// Outside the tree, attributes that Landlock does not cover stay unchanged, even of readable files, with each call that
// can change them; inside the tree each call works as without a sandbox.
func TestChanges(t *testing.T) {
	filtered(t)
	names := slices.Sorted(maps.Keys(changes))
	for _, act := range append(names, slices.Sorted(maps.Keys(oldChanges))...) {
		if act == "swap" {
			continue
		}
		t.Run(act, func(t *testing.T) {
			p := newPlace(t).prepare(t)
			link, root := filepath.Join(p.tree, "way"), "/proc/"+p.victim+"/root"
			hidden, shown := filepath.Join(p.beside, "file"), filepath.Join(p.shown, "file")
			before := facts(t, hidden, shown, p.beside)
			for _, path := range []string{
				hidden, shown, p.beside, link, root + hidden, filepath.Join(p.tree, "d", "file"),
				"../" + filepath.Base(p.beside) + "/file", "../" + filepath.Base(p.shown) + "/file",
			} {
				if path == link && act == "chown" {
					continue // the link itself is in the tree
				}
				if err := p.do(t, p.rules(t), act, path); err == nil {
					t.Errorf("done inside: %s", path)
				}
				if after := facts(t, hidden, shown, p.beside); after != before {
					t.Errorf("%s:\nbefore %s\nafter  %s", path, before, after)
				}
			}
			if err := p.do(t, nil, act, shown); err != nil {
				t.Skipf("NOT TOLD APART: outside it fails as well: %v", err)
			}
			if slices.Contains(outsideTree, act) {
				return
			}
			in := filepath.Join(p.tree, "file")
			if err := p.do(t, p.rules(t), act, in); err != nil {
				t.Errorf("in the tree: %v", err)
			}
			if inside, outside := facts(t, in), facts(t, shown); inside != outside {
				t.Errorf("in the tree:\n%s\nwithout a sandbox:\n%s", inside, outside)
			}
		})
	}
}

// The file that was checked is the file that is changed, whatever its name refers to a moment later.
func TestChanges_swapped(t *testing.T) {
	filtered(t)
	p := newPlace(t)
	before := facts(t, filepath.Join(p.beside, "file"))
	if err := p.do(t, p.rules(t), "swap", filepath.Join(p.tree, "a"), p.beside); err != nil {
		t.Error(err)
	}
	if after := facts(t, filepath.Join(p.beside, "file")); after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
}

// A program that a command left behind can change nothing, because no process answers its calls.
func TestChanges_leftBehind(t *testing.T) {
	filtered(t)
	p := newPlace(t)
	cmd, _ := p.command("")
	cmd.Path = "/bin/sh"
	cmd.Args = []string{"sh", "-c",
		"(while test ! -e go; do sleep 0.01; done; chmod 751 file; echo $? > done) > /dev/null 2>&1 &"}
	if _, err := sandbox.Run(cmd, p.rules(t), nil); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(p.tree, "go"), "")
	for {
		if text, err := os.ReadFile(filepath.Join(p.tree, "done")); err == nil && len(text) > 0 {
			if string(text) == "0\n" {
				t.Error("it was changed")
			}
			return
		}
	}
}

// facts are the attributes that these calls change, of files made by the test.
func facts(t *testing.T, paths ...string) (all string) {
	t.Helper()
	for _, path := range paths {
		var s unix.Stat_t
		if err := unix.Lstat(path, &s); err != nil {
			t.Fatal(err)
		}
		modified := "now"
		if sec, nsec := s.Mtim.Unix(); time.Since(time.Unix(sec, nsec)) > time.Hour {
			modified = fmt.Sprint(sec, ".", nsec)
		}
		all += fmt.Sprintf("%o %d:%d %s; ", s.Mode, s.Uid, s.Gid, modified)
	}
	return all
}
