package hostile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/names"
)

// makeSpecial makes a file that is not a regular file, or skips the test with the reason.
func makeSpecial(t *testing.T, b *backend, name string, mode uint32, dev uint64) {
	t.Helper()
	if err := unix.Mknod(b.path(name), mode|0o666, int(dev)); err != nil {
		t.Skipf("mknod of a %o: %v (devices need root)", mode, err)
	}
}

// soon is the time limit for operations that must not wait for the other end of a pipe. They need far less time.
const soon = 20 * time.Second

// refusesSpecial checks that every use of a file fails at once if the file is not a regular file.
func refusesSpecial(t *testing.T, b *backend, name string) {
	t.Helper()
	list := []string{name}
	for _, s := range []obj{
		editFile(name, "needle", "pin"),
		act("edit", obj{"files": list, "old_text": "n.*e", "new_text": "pin", "mode": "regex", "binary": true}),
		act("multi_edit", obj{"files": list, "edits": []obj{{"old_text": "needle", "new_text": "pin"}}}),
		act("regex_transform", obj{"files": list, "patterns": []obj{{"pattern": "n+", "replacement": "m"}}}),
		act("count_occurrences", obj{"files": list, "pattern": "needle"}),
		act("read_ranges", obj{"files": list}),
		act("copy", obj{"files": list, "destination": "new"}),
		act("rename", obj{"files": list, "to": "renamed"}),
		act("delete", obj{"files": list}),
		act("delete", obj{"files": list, "permanent": true}),
		act("diff", obj{"file_a": "a.txt", "file_b": name}),
		act("diff", obj{"file_a": name, "file_b": "a.txt"}),
		act("search", obj{"path": name, "pattern": "needle"}),
	} {
		within(t, soon, func(context.Context) { b.refuses(t, names.ErrNotRegular, name, s) })
	}
	// A condition on the existence of the file does not open it.
	within(t, soon, func(context.Context) {
		b.works(t, act("count_occurrences", obj{"files": []string{"a.txt"}, "pattern": "needle"}, obj{"condition": obj{"type": "file_exists", "path": name}}))
	})
}

// passesOver searches a tree with special files, which must neither stop the search nor be in its result.
func passesOver(t *testing.T, b *backend) {
	t.Helper()
	for _, pattern := range []string{"needle", "n[e]+dle", "(?s).*"} {
		within(t, soon, func(context.Context) {
			res := b.works(t, act("search", obj{"pattern": pattern, "mode": "regex", "no_ignore": true}))
			want := []string{"a.txt", "b.txt", "dir/c.txt", "dir/sub/d.txt"}
			if got := res.Results[0].FilesMatched; !slices.Equal(got, want) {
				t.Errorf("%s: found %q, want %q", pattern, got, want)
			}
		})
	}
}

// A program that opens a pipe without a writer waits forever.
func TestHostile_a_fifo(t *testing.T) {
	t.Parallel()
	eachDirectory(t, func(t *testing.T, b *backend) {
		makeSpecial(t, b, "pipe.txt", unix.S_IFIFO, 0)
		makeSpecial(t, b, "dir/.gitignore", unix.S_IFIFO, 0)
		passesOver(t, b)
		refusesSpecial(t, b, "pipe.txt")
		refusesSpecial(t, b, "dir/.gitignore")
	})
}

// The pipe replaces a file that was already read.
func TestHostile_a_fifo_in_place_of_a_planned_file(t *testing.T) {
	t.Parallel()
	eachDirectory(t, func(t *testing.T, b *backend) {
		plan := b.plan(t, editFile("a.txt", "needle", "pin"), editFile("b.txt", "needle", "pin", id("second")))
		if err := os.Remove(b.path("a.txt")); err != nil {
			t.Fatal(err)
		}
		makeSpecial(t, b, "a.txt", unix.S_IFIFO, 0)
		before := b.snapshot(t)
		within(t, soon, func(ctx context.Context) {
			_, err := plan.Commit(ctx)
			wantConflict(t, err, "a.txt")
		})
		b.unchanged(t, before)

		// The same between two steps of a run. The first step has read the file.
		if err := os.Remove(b.path("a.txt")); err != nil {
			t.Fatal(err)
		}
		b.plant(t, map[string]string{"a.txt": "alpha needle\n"})
		x := host()
		x.Observe = func(e millrace.Event) {
			if s, ok := e.(millrace.StepStarted); ok && s.Index == 1 {
				if err := errors.Join(os.Remove(b.path("a.txt")), unix.Mkfifo(b.path("a.txt"), 0o644)); err != nil {
					t.Error(err)
				}
			}
		}
		within(t, soon, func(ctx context.Context) {
			_, err := x.Run(ctx, b.fs, decoded(t, act("search", obj{"pattern": "alpha"}), editFile("a.txt", "needle", "pin")))
			if err == nil {
				t.Error("a pipe in place of the file was edited")
			}
		})
		if got := b.content(t, "b.txt"); got != "beta needle\n" {
			t.Errorf("b.txt is %q", got)
		}
	})
}

func TestHostile_socket_and_devices(t *testing.T) {
	t.Parallel()
	for what, mode := range map[string]uint32{"socket": unix.S_IFSOCK, "zero": unix.S_IFCHR, "block device": unix.S_IFBLK} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			eachDirectory(t, func(t *testing.T, b *backend) {
				dev := uint64(0)
				switch mode {
				case unix.S_IFCHR:
					dev = unix.Mkdev(1, 5) // /dev/zero
				case unix.S_IFBLK:
					dev = unix.Mkdev(7, 200) // a loop device that most likely does not exist
				}
				makeSpecial(t, b, "dir/special.txt", mode, dev)
				passesOver(t, b)
				refusesSpecial(t, b, "dir/special.txt")
			})
		})
	}
}

// Files of /proc report a size of 0.
func TestHostile_proc_file_of_size_zero(t *testing.T) {
	t.Parallel()
	const dir = "/proc/self"
	info, err := os.Stat(filepath.Join(dir, "status"))
	if err != nil || info.Size() != 0 {
		t.Skipf("no /proc with files of size 0: %v", err)
	}
	for _, name := range []string{"root", "os", "plain"} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t, name)
			b.dir = dir
			b.fs = reopened(t, name, dir)
			within(t, patience, func(ctx context.Context) {
				res, err := host().Run(ctx, b.fs, decoded(t,
					act("search", obj{"path": "status", "pattern": "Pid:"}, id("find")),
					act("count_occurrences", obj{"pattern": "VmPeak:"}, id("count"), obj{"input_from": "find"}),
					act("read_ranges", obj{"files": []string{"status"}, "end_line": 1}, id("read"))))
				if err != nil {
					t.Fatal(err)
				}
				if got := res.Results[1].Counts["status"]; got != 1 {
					t.Errorf("counted %d", got)
				}
				if got := res.Results[2].Content["status"]; !strings.HasPrefix(got, "Name:\t") {
					t.Errorf("read %q", got)
				}
			})
			// Its mode does not allow writing.
			within(t, patience, func(ctx context.Context) {
				_, err := host().Run(ctx, b.fs, decoded(t, editFile("status", "Name:", "Nom:")))
				_, isPath := errors.AsType[*fs.PathError](err)
				blocked, isBlocked := errors.AsType[*millrace.BlockedError](err)
				conflict, isConflict := errors.AsType[*millrace.ConflictError](err)
				switch {
				case isPath, isBlocked && strings.Contains(blocked.Reason, "file status is read-only"):
				case isConflict && conflict.Conflicts[0].Path == "status":
				default:
					t.Errorf("want an error that names the file, got %T: %v", err, err)
				}
			})
			// A commit is impossible: the content differs on each read, and /proc cannot hold the state directory.
			within(t, patience, func(ctx context.Context) {
				p, err := millrace.New("force").Options(millrace.Options{Force: true}).
					Step("edit", actions.Edit{Files: []string{"status"}, OldText: "Name:", NewText: "Nom:"}).Build()
				if err != nil {
					t.Fatal(err)
				}
				_, err = host().Run(ctx, b.fs, p)
				_, isPath := errors.AsType[*fs.PathError](err)
				if conflict, ok := errors.AsType[*millrace.ConflictError](err); ok {
					isPath = conflict.Conflicts[0].Path == "status"
				}
				if !isPath {
					t.Errorf("want a typed error with a path, got %T: %v", err, err)
				}
			})
		})
	}
}

// A file with a device mounted on it is the device.
func TestHostile_zero_mounted_on_file(t *testing.T) {
	t.Parallel()
	eachDirectory(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"zero.txt": "needle"})
		if err := unix.Mount("/dev/zero", b.path("zero.txt"), "", unix.MS_BIND, ""); err != nil {
			t.Skipf("bind mounts need root: %v", err)
		}
		defer func() {
			if err := unix.Unmount(b.path("zero.txt"), unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		}()
		passesOver(t, b)
		refusesSpecial(t, b, "zero.txt")
	})
}
