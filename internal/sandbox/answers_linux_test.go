package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/sandbox"
)

// trial makes calls that change attributes in every way that a program can, right and wrong, and prints the result of
// each.
func trial([]string) error {
	for _, name := range []string{"new", "gone", "linked"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			return err
		}
	}
	if err := os.Symlink("linked", "link"); err != nil {
		return err
	}
	dir, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	file, err := unix.Open("new", unix.O_RDWR, 0)
	if err != nil {
		return err
	}
	gone, err := unix.Open("gone", unix.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := os.Remove("gone"); err != nil {
		return err
	}
	call := func(name string, trap uintptr, args ...uintptr) {
		args = append(args, 0, 0, 0, 0, 0, 0)
		_, _, errno := unix.Syscall6(trap, args[0], args[1], args[2], args[3], args[4], args[5])
		fmt.Printf("%s: %v\n", name, errno)
	}
	path := func(text string) uintptr {
		p, err := unix.BytePtrFromString(text)
		if err != nil {
			panic(err)
		}
		kept = append(kept, p)
		return uintptr(unsafe.Pointer(p))
	}
	times := func(values ...int64) uintptr {
		p := &[4]int64{}
		copy(p[:], values)
		keptTimes = append(keptTimes, p)
		return uintptr(unsafe.Pointer(p))
	}
	here, bad := minus(100), minus(1)
	absolute, err := filepath.Abs("new")
	if err != nil {
		return err
	}
	for _, text := range []string{"new", "missing", "", "new/", "new/x", "a", "a/", "link", "./a/../new", absolute, strings.Repeat("x", 300),
		strings.Repeat("x/", 2040) + "new", strings.Repeat("x", 5000), fmt.Sprintf("/proc/self/fd/%d", file), "/proc/self/cwd/new"} {
		shown := strings.ReplaceAll(text, filepath.Dir(absolute), "")
		call("fchmodat "+shown, unix.SYS_FCHMODAT, here, path(text), 0o740)
		call("fchmodat in a directory "+shown, unix.SYS_FCHMODAT, uintptr(dir), path(text), 0o741)
		call("fchmodat in none "+shown, unix.SYS_FCHMODAT, bad, path(text), 0o742)
		call("fchmodat in a closed one "+shown, unix.SYS_FCHMODAT, 4000, path(text), 0o742)
		call("fchmodat in a file "+shown, unix.SYS_FCHMODAT, uintptr(file), path(text), 0o743)
		for _, flags := range []uintptr{0, unix.AT_SYMLINK_NOFOLLOW, unix.AT_EMPTY_PATH, 7} {
			call(fmt.Sprint("fchownat ", flags, shown), unix.SYS_FCHOWNAT, here, path(text), uintptr(unix.Getuid()), bad, flags)
			call(fmt.Sprint("fchownat of a file ", flags, shown), unix.SYS_FCHOWNAT, uintptr(file), path(text), bad, bad, flags)
			call(fmt.Sprint("utimensat ", flags, shown), unix.SYS_UTIMENSAT, here, path(text), times(1, 2, 3, 4), flags)
		}
	}
	call("no path", unix.SYS_FCHMODAT, here, 0, 0o740)
	call("a wrong path", unix.SYS_FCHMODAT, here, 8, 0o740)
	call("fchmod", unix.SYS_FCHMOD, uintptr(file), 0o6751)
	call("fchmod of a directory", unix.SYS_FCHMOD, uintptr(dir), 0o1751)
	call("fchmod of none", unix.SYS_FCHMOD, bad, 0o700)
	call("fchmod of what is closed", unix.SYS_FCHMOD, 4000, 0o700)
	call("fchmod of what is removed", unix.SYS_FCHMOD, uintptr(gone), 0o700)
	call("fchown of what is removed", unix.SYS_FCHOWN, uintptr(gone), bad, bad)
	call("fchown", unix.SYS_FCHOWN, uintptr(file), uintptr(unix.Getuid()), uintptr(unix.Getgid()))
	for name, value := range map[string]uintptr{
		"zero": times(), "none": times(1, unix.UTIME_OMIT, 3, unix.UTIME_OMIT), "one": times(1, 999999999, 3, unix.UTIME_OMIT),
		"bad": times(1, 1000000000, 1, 1), "negative": times(-5, 1, -6, 2), "at a wrong place": 8,
	} {
		call("times "+name, unix.SYS_UTIMENSAT, here, path("new"), value)
		call("times of a file "+name, unix.SYS_UTIMENSAT, uintptr(file), 0, value)
	}
	call("times of nothing", unix.SYS_UTIMENSAT, here, 0, times())
	more(func(name string, trap uintptr, args ...uintptr) { call(name, trap, args...) }, path, times)
	for _, name := range []string{"new", "link", "linked", "a", "."} {
		var s unix.Stat_t
		if err := unix.Lstat(name, &s); err != nil {
			return err
		}
		fmt.Printf("%s: %o %d:%d\n", name, s.Mode, s.Uid, s.Gid)
		if name == "new" {
			fmt.Println(s.Mtim)
		}
	}
	return nil
}

// kept and keptTimes are the targets of pointers in calls.
var (
	kept      []*byte
	keptTimes []*[4]int64
)

// minus returns a negative number as an argument of a call.
func minus(n int) uintptr { return uintptr(-n) }

// A call that this program answers ends as the kernel would have ended it, right or wrong.
func TestAnswers(t *testing.T) {
	filtered(t)
	var said [2]string
	for i := range said {
		p := newPlace(t)
		cmd, out := p.command("trial")
		cmd.Dir = p.tree
		rules := p.rules(t)
		if i == 1 {
			rules = nil
		}
		if _, err := sandbox.Run(cmd, rules, nil); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		said[i] = string(bytes.ReplaceAll(out.Bytes(), []byte(p.tree), []byte("/tree")))
	}
	inside, outside := strings.Split(said[0], "\n"), strings.Split(said[1], "\n")
	if len(inside) != len(outside) {
		t.Fatalf("%d lines inside and %d outside", len(inside), len(outside))
	}
	differ := make(map[string]bool)
	for _, line := range inside {
		differ[line] = true
	}
	for _, line := range outside {
		if strings.Contains(line, "256/proc/self/fd") {
			continue // paths below /proc belong to no tree
		}
		if !differ[line] {
			t.Errorf("outside: %.120s", line)
		}
		delete(differ, line)
	}
	for line := range differ {
		if strings.Contains(line, "256/proc/self/fd") {
			continue
		}
		t.Errorf("inside: %.120s", line)
	}
}
