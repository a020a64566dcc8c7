//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock does not cover modes, owners and times: a command could remove the permissions of every file of its user. So
// the filter passes such calls to the program. The program carries out the calls for files below the roots, and refuses
// the others. The calling thread waits, and cannot change its call: the program looks up the file itself, once, and
// changes the file that it has found.

// answering answers the calls of one command.
type answering struct {
	listener *os.File
	roots    []string // real paths
	ended    chan struct{}
}

// notice is a call that waits for an answer, in the format of the kernel.
type notice struct {
	id    uint64
	pid   uint32 // of the thread
	flags uint32
	call  int32
	arch  uint32
	at    uint64
	args  [6]uint64
}

// answer is the answer, in the format of the kernel.
type answer struct {
	id    uint64
	value int64
	error int32
	flags uint32
}

// newAnswering begins to answer the calls from a listener. close closes the listener.
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
		_ = connection.Read(a.answerAll) // until close
	}()
	return a, nil
}

// close stops answering: later calls fail.
func (a *answering) close() {
	if a != nil {
		_ = a.listener.Close()
		<-a.ended
	}
}

// answerAll answers the waiting calls, and reports whether no more calls are possible.
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
		var n notice // the kernel requires zeros
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_RECV,
			uintptr(unsafe.Pointer(&n)))
		if errno != 0 {
			continue // the caller was killed
		}
		reply := answer{id: n.id}
		if errno := a.answer(listener, &n); errno != 0 {
			reply.error = -int32(errno)
		}
		// A caller that is gone does not need it.
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&reply)))
	}
}

// answer makes a call for the caller, and returns its error.
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
	// Only now it is certain that the memory belongs to the caller, and not to a later process with the same number.
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

// change changes a file if the command may write to it.
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
