//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/sandbox"
)

// fileCalls are the calls that change files, with the kinds of their arguments: p a path, d a directory or the working
// directory, f any descriptor, m a mode or flags, n a small number, b bytes, t times, i an owner, 0 nothing.
var fileCalls = []struct {
	call uintptr
	args string
}{
	{unix.SYS_OPENAT, "dpom"}, {unix.SYS_OPENAT, "dpom"}, {unix.SYS_OPENAT, "dpom"},
	{unix.SYS_WRITE, "fbn"}, {unix.SYS_PWRITE64, "fbnn"}, {unix.SYS_FTRUNCATE, "fn"}, {unix.SYS_TRUNCATE, "pn"},
	{unix.SYS_FALLOCATE, "fmnn"}, {unix.SYS_FCHMOD, "fm"}, {unix.SYS_FCHMODAT, "dpm"}, {unix.SYS_FCHMODAT2, "dpma"},
	{unix.SYS_FCHOWN, "fii"}, {unix.SYS_FCHOWNAT, "dpiia"}, {unix.SYS_LINKAT, "dpdpa"}, {unix.SYS_SYMLINKAT, "pdp"},
	{unix.SYS_RENAMEAT, "dpdp"}, {unix.SYS_RENAMEAT2, "dpdpn"}, {unix.SYS_UNLINKAT, "dp0"},
	{unix.SYS_UNLINKAT, "dpr"}, {unix.SYS_MKDIRAT, "dpm"}, {unix.SYS_MKNODAT, "dpm0"}, {unix.SYS_UTIMENSAT, "dpta"},
	{unix.SYS_UTIMENSAT, "f0t0"}, {unix.SYS_SETXATTR, "pxbn0"}, {unix.SYS_LSETXATTR, "pxbn0"}, {unix.SYS_FSETXATTR, "fxbn0"},
	{unix.SYS_REMOVEXATTR, "px"}, {unix.SYS_FREMOVEXATTR, "fx"}, {unix.SYS_FILE_SETATTR, "dpbna"},
	{unix.SYS_COPY_FILE_RANGE, "f0f0n0"}, {unix.SYS_SENDFILE, "ff0n"}, {unix.SYS_IOCTL, "fcf"}, {unix.SYS_FCHDIR, "f"},
	{unix.SYS_CHDIR, "p"}, {unix.SYS_SYNC_FILE_RANGE, "fnn0"}, {unix.SYS_FADVISE64, "fnnn"}, {unix.SYS_READLINKAT, "dpbn"},
}

// caller makes random calls.
type caller struct {
	*rand.Rand
	paths []string
	fds   []uintptr
	keep  [][]byte // arguments of the calls
}

func (c *caller) bytes(b []byte) uintptr {
	c.keep = append(c.keep, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

func (c *caller) arg(kind rune) uintptr {
	pick := func(of ...uintptr) uintptr { return of[c.IntN(len(of))] }
	switch kind {
	case 'p':
		return c.bytes(append([]byte(c.paths[c.IntN(len(c.paths))]), 0))
	case 'd':
		if c.IntN(3) > 0 {
			return minus(100) // AT_FDCWD
		}
		return c.fds[c.IntN(len(c.fds))]
	case 'f':
		return c.fds[c.IntN(len(c.fds))]
	case 'o':
		flags := pick(unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR, unix.O_PATH) | pick(0, 0, unix.O_CREAT, unix.O_TRUNC, unix.O_APPEND)
		return flags | pick(0, 0, unix.O_DIRECTORY, unix.O_NOFOLLOW, unix.O_TMPFILE) | unix.O_NONBLOCK | unix.O_CLOEXEC
	case 'm':
		return pick(0, 0o600, 0o644, 0o755, 0o4755, 1, 2, 3, 8, 16)
	case 'n':
		return pick(0, 1, 2, 4, 7, 4096)
	case 'a':
		return pick(0, 0, unix.AT_EMPTY_PATH, unix.AT_SYMLINK_NOFOLLOW, unix.AT_SYMLINK_FOLLOW)
	case 'r':
		return unix.AT_REMOVEDIR
	case 'i':
		return pick(minus(1), uintptr(os.Getuid()), 1)
	case 'b':
		b := make([]byte, 4096)
		copy(b, "theirs")
		return c.bytes(b)
	case 'x':
		return c.bytes([]byte("user.millrace\x00"))
	case 't':
		if c.IntN(2) == 0 {
			return 0
		}
		return c.bytes(make([]byte, 32))
	case 'c':
		return uintptr(sandbox.Requests[c.IntN(len(sandbox.Requests))])
	}
	return 0
}

// makeCalls makes as many calls as its second argument requests, with the paths that follow.
func makeCalls(args []string) error {
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	c := &caller{Rand: rand.New(rand.NewPCG(seed, 2)), paths: args[2:], fds: []uintptr{minus(100)}}
	for _, path := range c.paths {
		if fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK, 0); err == nil {
			c.fds = append(c.fds, uintptr(fd))
		}
	}
	first := len(c.fds)
	for range number(args[1]) {
		of := fileCalls[c.IntN(len(fileCalls))]
		var a [6]uintptr
		for i, kind := range of.args {
			a[i] = c.arg(kind)
		}
		fd, _, errno := unix.Syscall6(of.call, a[0], a[1], a[2], a[3], a[4], a[5])
		c.keep = nil
		if of.call != unix.SYS_OPENAT || errno != 0 {
			continue
		}
		if c.fds = append(c.fds, fd); len(c.fds) > first+20 {
			_ = unix.Close(int(c.fds[first]))
			c.fds = append(c.fds[:first], c.fds[first+1:]...)
		}
	}
	return nil
}

// inodes lists the entries of directories, with the contents of files, and the time of the last change to each inode.
func inodes(t *testing.T, dirs ...string) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintln(&all, path, "is gone")
				return nil
			}
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			changed := info.Sys().(*syscall.Stat_t).Ctim
			fmt.Fprint(&all, path, " ", info.Mode(), " ", changed.Sec, ".", changed.Nsec)
			if info.Mode().IsRegular() {
				data, err := os.ReadFile(path)
				fmt.Fprintf(&all, " %q %v", data, err)
			}
			all.WriteByte('\n')
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// TestCallsAtRandom makes random calls about files, with descriptors and names that lead out of the tree. Nothing
// outside changes, not even the time of the last change to an inode.
func TestCallsAtRandom(t *testing.T) {
	filtered(t)
	seed, n := fstest.Seed(t), fstest.Runs(5, 50, 2_000)
	seen := 0
	for i := range n {
		t.Run(strconv.FormatUint(seed+uint64(i), 10), func(t *testing.T) {
			if callsAtRandom(t, seed+uint64(i), i%50 == 0) {
				seen++
			}
		})
	}
	if seen == 0 {
		t.Error("the test does not see the calls without a sandbox")
	}
	fstest.Countf(t, "%d random calls", n*4000)
}

// callsAtRandom makes 4,000 calls in the sandbox, and then without it if outside is set. It reports whether the calls
// without the sandbox changed a file.
func callsAtRandom(t *testing.T, seed uint64, outside bool) (changed bool) {
	t.Helper()
	p := newPlace(t)
	paths := []string{".", "file", "a", "b", "a/one", "new", "a/new", "link", "dirlink", "", "link/../one"}
	for _, dir := range []string{p.beside, p.shown} {
		up := "../" + filepath.Base(dir)
		paths = append(paths, dir, dir+"/file", dir+"/a", dir+"/a/one", dir+"/new", up+"/file", up+"/a")
		paths = append(paths, "/proc/"+p.victim+"/root"+dir+"/file")
	}
	paths = append(paths, "/proc/self/fd/5", "/proc/self/fd/7", "/proc/self/cwd/file", "dirlink/file", "dirlink/new")
	for name, target := range map[string]string{"link": p.beside + "/file", "dirlink": p.shown} {
		if err := os.Symlink(target, filepath.Join(p.tree, name)); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{strconv.FormatUint(seed, 10), "4000"}, paths...)
	before := inodes(t, p.beside, p.shown)
	if err := p.do(t, p.rules(t), "any", args...); err != nil {
		t.Fatal(err)
	}
	if after := inodes(t, p.beside, p.shown); after != before {
		t.Fatalf("before\n%s\nafter\n%s", before, after)
	}
	if !outside {
		return false
	}
	if err := p.do(t, nil, "any", args...); err != nil {
		t.Fatalf("without a sandbox: %v", err)
	}
	return inodes(t, p.beside, p.shown) != before
}
