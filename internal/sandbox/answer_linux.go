//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock does not know of modes, owners and times: a command could take the rights from every file of its user. So
// the filter hands such calls to the program, which makes those that are about files below the roots, and refuses the
// others. The one who asks waits, and cannot change what was asked: the program looks up the file itself, once, and
// changes the file that it has found.

// answering is what answers the calls of one command.
type answering struct {
	listener *os.File
	roots    []string // real paths
	ended    chan struct{}
}

// notice is a call that waits for an answer, as the kernel writes it.
type notice struct {
	id    uint64
	pid   uint32 // of the thread
	flags uint32
	call  int32
	arch  uint32
	at    uint64
	args  [6]uint64
}

// answer is the answer, as the kernel reads it.
type answer struct {
	id    uint64
	value int64
	error int32
	flags uint32
}

// newAnswering begins to answer what comes by a listener, which is closed by close.
func newAnswering(listener int, roots []string) (*answering, error) {
	if err := unix.SetNonblock(listener, true); err != nil {
		_ = unix.Close(listener)
		return nil, fmt.Errorf("sandbox: seccomp listener: %w", err)
	}
	a := &answering{listener: os.NewFile(uintptr(listener), "seccomp"), roots: roots, ended: make(chan struct{})}
	connection, err := a.listener.SyscallConn()
	if err != nil {
		_ = a.listener.Close()
		return nil, fmt.Errorf("sandbox: seccomp listener: %w", err)
	}
	go func() {
		defer close(a.ended)
		_ = connection.Read(a.answerAll) // ends by close
	}()
	return a, nil
}

// close answers no more: calls that still come fail.
func (a *answering) close() {
	if a != nil {
		_ = a.listener.Close()
		<-a.ended
	}
}

// answerAll answers the calls that wait, and reports whether none can come any more.
func (a *answering) answerAll(listener uintptr) bool {
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if n, err := unix.Poll(poll, 0); err == unix.EINTR {
			continue
		} else if err != nil || n == 0 {
			return err != nil
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			return true // all processes have ended
		}
		var n notice // the kernel wants it to be zero
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_RECV,
			uintptr(unsafe.Pointer(&n)))
		if errno != 0 {
			continue // the one who asked was killed
		}
		reply := answer{id: n.id}
		if errno := a.answer(listener, &n); errno != 0 {
			reply.error = -int32(errno)
		}
		// One who is gone does not need it.
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&reply)))
	}
}

// answer makes a call in place of the one who asks, and returns its error.
func (a *answering) answer(listener uintptr, n *notice) unix.Errno {
	r, errno := readRequest(n)
	if errno != 0 {
		return errno
	}
	from, errno := r.from(n.pid)
	if errno != 0 {
		return errno
	}
	defer func() { _ = unix.Close(from) }()
	// Only now it is certain that what was read is of the one who asks, and not of a later process of that number.
	_, _, errno = unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID,
		uintptr(unsafe.Pointer(&n.id)))
	if errno != 0 {
		return errno
	}
	if r.path == "" {
		return a.change(from, r)
	}
	flags := unix.O_PATH | unix.O_CLOEXEC
	if r.link {
		flags |= unix.O_NOFOLLOW
	}
	file, err := unix.Openat(from, r.path, flags, 0)
	if err != nil {
		return number(err)
	}
	defer func() { _ = unix.Close(file) }()
	return a.change(file, r)
}

// change changes a file if it lies where the command may write.
func (a *answering) change(file int, r *request) unix.Errno {
	path, err := realPath(file)
	if err != nil {
		return number(err)
	}
	if !slices.ContainsFunc(a.roots, func(root string) bool { return path == root || below(path, root) }) {
		return unix.EPERM
	}
	return number(r.change(file))
}

// number returns the number of an error of a system call.
func number(err error) unix.Errno {
	if err == nil {
		return 0
	}
	if errno, ok := err.(unix.Errno); ok {
		return errno
	}
	return unix.EPERM
}
