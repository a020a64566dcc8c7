package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dying is how long killed processes may take to be gone. One that waits for a disk that does not answer takes longer.
const dying = 10 * time.Second

// errNoProc says that processes cannot be looked for.
var errNoProc = errors.New("there is no /proc")

// mark says whether a process is looked for, by its directory in /proc, its process group and its session.
type mark func(dir string, pgrp, session int) bool

// killAll kills the processes that are looked for, until none is left.
func killAll(is mark) error {
	deadline := time.Now().Add(dying)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		left, err := running(is)
		if err != nil {
			return errNoProc
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of them cannot be killed, the first is %d", len(left), left[0])
		}
		for _, pid := range left {
			killOne(pid, is)
		}
		time.Sleep(wait)
	}
}

// running returns the processes that are looked for and run, this one never.
func running(is mark) ([]int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer func() { _ = proc.Close() }()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var left []int
	self := os.Getpid()
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != self && runs(pid, is) {
			left = append(left, pid)
		}
	}
	return left, nil
}

// runs reports whether a process is looked for and runs. One whose first thread has ended and others have not looks like
// a dead one, and shows its environment in those.
func runs(pid int, is mark) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	state, pgrp, session := stat(dir)
	if state != dead {
		return state == alive && is(dir, pgrp, session)
	}
	threads, _ := filepath.Glob(filepath.Join(dir, "task", "*"))
	for _, thread := range threads {
		if state, _, _ := stat(thread); state == alive {
			return is(thread, pgrp, session)
		}
	}
	return false
}

// What a process or thread is.
const (
	gone = iota
	dead
	alive
)

// stat reads the state, the process group and the session of a process or thread. The name of the program before them
// may have any characters.
func stat(dir string) (state, pgrp, session int) {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if err != nil || len(fields) < 4 {
		return gone, 0, 0
	}
	pgrp, _ = strconv.Atoi(fields[2])
	session, _ = strconv.Atoi(fields[3])
	if fields[0] == "Z" || fields[0] == "X" {
		return dead, pgrp, session
	}
	return alive, pgrp, session
}

// environ returns the environment that a process was started with, nothing if that of another user.
func environ(dir string) []byte {
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return nil
	}
	return env
}

// sameNamespaces reports whether a process has the same processes and files around it as this one: in another container,
// a path that is written the same is another place.
func sameNamespaces(dir string) bool {
	for _, space := range []string{"ns/pid", "ns/mnt"} {
		ours, err := os.Readlink(filepath.Join("/proc/self", space))
		theirs, err2 := os.Readlink(filepath.Join(dir, space))
		if err != nil || err2 != nil || ours != theirs {
			return false
		}
	}
	return true
}

// killOne kills a process that is looked for, and not another one that has got its number meanwhile.
func killOne(pid int, is mark) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil { // a kernel, or a container, without these
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if runs(pid, is) {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}
