//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// request is a call that changes the mode, the owner or the times of a file.
type request struct {
	dir    int32 // the directory of a relative path; without a path, the file itself
	path   string
	link   bool // a symbolic link at the end of the path is not followed
	change func(file int) error
}

// shape describes the arguments of a call.
type shape struct {
	dir, path int // index of the argument; none if negative
	flags     int
	link      bool
	value     int // the first argument that describes the change
	what      what
}

// what names the attribute that a call changes.
type what int

// Attributes that calls change; times come in three forms.
const (
	theMode what = iota
	theOwner
	theTimes   // in seconds and nanoseconds
	microTimes // in seconds and microseconds
	fullTimes  // in seconds
)

// readRequest reads a call and its arguments. The memory belongs to a process that waits for the answer, but may have
// other threads: everything is read only once.
func readRequest(n *notice) (*request, unix.Errno) {
	s, ok := shapes[uint32(n.call)]
	if !ok {
		return nil, unix.ENOSYS
	}
	r := &request{dir: unix.AT_FDCWD, link: s.link}
	if s.dir >= 0 {
		r.dir = int32(n.args[s.dir])
	}
	var flags uint64
	if s.flags >= 0 {
		flags = n.args[s.flags]
	}
	if flags&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return nil, unix.EINVAL
	}
	r.link = r.link || flags&unix.AT_SYMLINK_NOFOLLOW != 0
	memory, err := unix.Open(fmt.Sprintf("/proc/%d/mem", n.pid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, number(err)
	}
	defer func() { _ = unix.Close(memory) }()
	if r.change, err = s.change(memory, n); err != nil {
		return nil, number(err)
	}
	// Without a path, calls about times mean the descriptor, if any.
	descriptor := s.what >= theTimes && r.dir != unix.AT_FDCWD
	if s.path >= 0 && (!descriptor || n.args[s.path] != 0) {
		if r.path, err = readPath(memory, n.args[s.path]); err != nil {
			return nil, number(err)
		}
		if r.path == "" && flags&unix.AT_EMPTY_PATH == 0 {
			return nil, unix.ENOENT
		}
	}
	// /proc/self must mean the caller, not this program.
	if rest, ok := strings.CutPrefix(r.path, "/proc/self/"); ok {
		r.path = fmt.Sprintf("/proc/%d/%s", n.pid, rest)
	}
	return r, 0
}

// change returns the function that changes the file.
func (s shape) change(memory int, n *notice) (func(file int) error, error) {
	switch value := n.args[s.value]; s.what {
	case theMode:
		mode := uint32(value)
		return func(file int) error { return unix.Fchmodat(unix.AT_FDCWD, ownDescriptor(file), mode, 0) }, nil
	case theOwner:
		user, group := int(int32(value)), int(int32(n.args[s.value+1]))
		return func(file int) error { return unix.Fchownat(file, "", user, group, unix.AT_EMPTY_PATH) }, nil
	default:
		times, err := readTimes(memory, value, s.what)
		if err != nil {
			return nil, err
		}
		return func(file int) error { return unix.UtimesNanoAt(file, "", times, unix.AT_EMPTY_PATH) }, nil
	}
}

// from opens the directory at which the path begins, or the file itself.
func (r *request) from(pid uint32) (int, unix.Errno) {
	name := fmt.Sprintf("/proc/%d/fd/%d", pid, r.dir)
	if strings.HasPrefix(r.path, "/") {
		name = "/" // the directory is not used
	} else if r.dir == unix.AT_FDCWD {
		name = fmt.Sprintf("/proc/%d/cwd", pid)
	}
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return -1, unix.EBADF
	}
	return fd, number(err)
}

// readPath reads a path up to its terminating zero.
func readPath(memory int, address uint64) (string, error) {
	b := make([]byte, unix.PathMax)
	n, err := unix.Pread(memory, b, int64(address))
	if err != nil {
		return "", unix.EFAULT
	}
	path, _, ok := bytes.Cut(b[:n], []byte{0})
	if !ok {
		return "", unix.ENAMETOOLONG
	}
	return string(path), nil
}

// readTimes reads the times of access and of change; address 0 means now.
func readTimes(memory int, address uint64, form what) ([]unix.Timespec, error) {
	if address == 0 {
		return []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}, nil
	}
	var words [4]int64
	size := 8 * len(words)
	if form == fullTimes {
		size = 8 * 2
	}
	b := make([]byte, size)
	if n, err := unix.Pread(memory, b, int64(address)); err != nil || n < len(b) {
		return nil, unix.EFAULT
	}
	for i := range len(b) / 8 {
		words[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	switch form {
	case fullTimes:
		return []unix.Timespec{{Sec: words[0]}, {Sec: words[1]}}, nil
	case microTimes:
		if min(words[1], words[3]) < 0 || max(words[1], words[3]) >= 1e6 {
			return nil, unix.EINVAL
		}
		words[1], words[3] = words[1]*1000, words[3]*1000
	}
	return []unix.Timespec{{Sec: words[0], Nsec: words[1]}, {Sec: words[2], Nsec: words[3]}}, nil
}
