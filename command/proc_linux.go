package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// dying is the time that killed processes may need to end. A process that waits for an unresponsive disk needs longer.
	dying = 10 * time.Second
	// doubting is the time for which the hunt continues after the last match, while short-lived processes end before they
	// can be examined. These processes may belong to others.
	doubting = time.Second
	// doubts is the least number of rounds in that time: on a busy machine one round may take longer than doubting.
	doubts = 10
	// starting is the time to wait for processes that are executing a new program.
	starting = 5 * time.Second
)

// errNoProc reports that processes cannot be searched.
var errNoProc = errors.New("there is no /proc")

// mark reports whether a process is wanted, by its directory in /proc, the environment that it was started with (nil if
// unavailable), its process group and its session.
type mark func(dir string, env []byte, pgrp, session int) bool

// killAll kills the wanted processes until none is left. A process that ends before it can be examined may have been
// wanted and have left a child, so the hunt goes on: otherwise a program that forks again and again and ends each
// parent would escape.
func killAll(is mark) error {
	h := hunt{is: is, known: make(map[int]bool), killed: make(map[int]bool)}
	begun, wait := time.Now(), time.Millisecond
	met, rounds := begun, 0 // the time of the last match, and the number of rounds since
	var before []int
	for {
		h.starting = false
		left, unsure, err := h.round()
		if rounds++; len(left) > 0 {
			met, rounds = time.Now(), 0
		}
		took, quiet, patience := time.Since(begun), time.Since(met), doubting
		if h.starting {
			patience = starting
		}
		switch {
		case err != nil:
			return errNoProc
		case len(left) == 0 && (!unsure || rounds >= doubts && quiet > patience || took > dying):
			return nil
		case took > dying:
			return fmt.Errorf("%d of them cannot be killed, the first is %d", len(left), left[0])
		}
		if (len(left) > 0 || h.starting) && slices.Equal(left, before) { // they are dying or starting, and need time
			time.Sleep(wait)
			wait = min(2*wait, 20*time.Millisecond)
		}
		before = left
	}
}

// longEnviron is the number of bytes of an environment that are read at first.
const longEnviron = 16 << 10

// hunt kills wanted processes.
type hunt struct {
	is    mark
	known map[int]bool // processes that are not wanted
	// killed are the processes that were found. While they end they no longer show their environment, but still exist.
	killed map[int]bool
	// starting means that a process met in this round is executing a new program. Until that is done it does not show its
	// environment. On a busy machine that takes a while.
	starting bool
	text     []byte // the buffer of environ
}

// environ returns the initial environment of a process; it is valid until the next call. It is read in one system call:
// between two calls the process may execute another program, and the rest of the old environment may be cut off before
// the wanted part.
func (h *hunt) environ(dir string) ([]byte, error) {
	if h.text == nil {
		h.text = make([]byte, longEnviron)
	}
	for {
		f, err := os.Open(filepath.Join(dir, "environ"))
		if err != nil {
			return nil, err
		}
		n, err := f.Read(h.text)
		_ = f.Close()
		switch {
		case err != nil && err != io.EOF:
			return nil, err
		case n < len(h.text):
			return h.text[:n], nil
		}
		h.text = make([]byte, 2*len(h.text)) // the system limits it to some megabytes
	}
}

// round examines all processes once, kills the wanted ones, and returns them. unsure means that some ended before they
// could be examined. The newest come first, because older ones will still exist. All are stopped before the first is
// killed: a script whose program is killed would continue with its next one.
func (h *hunt) round() (left []int, unsure bool, err error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = proc.Close() }()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, false, err
	}
	self := os.Getpid()
	var stopped []int
	for _, name := range slices.Backward(names) {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self || h.known[pid] {
			continue
		}
		if h.killed[pid] {
			if !hasEnded(pid) {
				left = append(left, pid)
			}
			continue
		}
		switch h.signal(pid, syscall.SIGSTOP) {
		case ours:
			stopped = append(stopped, pid)
		case others:
			h.known[pid] = true
		case gone:
			unsure = true
		}
	}
	for _, pid := range slices.Backward(stopped) {
		if h.signal(pid, syscall.SIGKILL) == ours { // else it does not show its environment right now
			h.killed[pid] = true
		}
	}
	return append(left, stopped...), unsure, nil
}

// The kinds of process that look returns.
const (
	gone   = iota // it can no longer be examined
	others        // it is not wanted
	ours
)

// signal sends a signal to a process if it is wanted. The process is pinned before it is examined, so that a new
// process with the same number is not hit.
func (h *hunt) signal(pid int, sig syscall.Signal) int {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return gone
	}
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
	}
	what := h.look(pid)
	switch {
	case what != ours:
	case err != nil: // a kernel, or a container, without pidfds
		_ = syscall.Kill(pid, sig)
	default:
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
	return what
}

// hasEnded reports whether all threads of a process have ended.
func hasEnded(pid int) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	switch stat(dir).state {
	case missing:
		return true
	case dead:
		return livingThread(dir) == ""
	}
	return false
}

// livingThread returns the directory of a running thread of a process whose first thread has ended; "" for none.
func livingThread(dir string) string {
	threads, _ := filepath.Glob(filepath.Join(dir, "task", "*"))
	if i := slices.IndexFunc(threads, func(thread string) bool { return stat(thread).state == alive }); i >= 0 {
		return threads[i]
	}
	return ""
}

// look returns the kind of a process. A process whose first thread has ended looks dead even if other threads run, but
// these threads still show its environment.
func (h *hunt) look(pid int) int {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	was := stat(dir)
	switch was.state {
	case missing:
		return gone
	case dead:
		living := livingThread(dir)
		if living == "" {
			h.known[pid] = true // it stays unwanted, and may exist for long
			return gone
		}
		dir = living
	}
	env, err := h.environ(dir)
	if h.is(dir, env, was.pgrp, was.session) {
		return ours
	}
	switch {
	case len(env) > 0, was.kernel, errors.Is(err, fs.ErrPermission):
		return others
	case errors.Is(err, unix.ESRCH), stat(dir).state != alive:
		return gone // it is ending without an environment, or it has ended, perhaps before the environment was read
	case err != nil:
		return others
	}
	// It was started without an environment, or it is executing another program, whose environment is not in place yet.
	before := stat(dir)
	env, err = h.environ(dir)
	switch {
	case errors.Is(err, unix.ESRCH):
		return gone
	case err == nil && h.is(dir, env, before.pgrp, before.session):
		return ours // it has become wanted since then
	}
	if after := stat(dir); len(env) == 0 && err == nil && (!before.placed() || after.program != before.program) {
		h.starting = h.starting || after.state == alive
		return gone
	}
	return others
}

// The states of a process or thread.
const (
	missing = iota
	dead
	alive
)

// status is the result of stat.
type status struct {
	state, pgrp, session int
	kernel               bool // a thread of the kernel
	// program is the start and the end of the program's code, and the start of its stack. The end is the last value that
	// is set when a process executes another program, after its environment, and is 0 before.
	program [3]string
}

// placed reports whether the program of a process is completely in place.
func (s status) placed() bool { return s.program[1] != "" && s.program[1] != "0" }

// stat reads the status of a process or thread. The program name in it may have any characters.
func stat(dir string) status {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if err != nil || len(fields) < 7 {
		return status{state: missing}
	}
	s := status{state: alive}
	if fields[0] == "Z" || fields[0] == "X" {
		s.state = dead
	}
	s.pgrp, _ = strconv.Atoi(fields[2])
	s.session, _ = strconv.Atoi(fields[3])
	const kernelThread = 0x00200000
	flags, _ := strconv.ParseUint(fields[6], 10, 64)
	s.kernel = flags&kernelThread != 0
	if len(fields) > 25 {
		s.program = [3]string(fields[23:26])
	}
	return s
}

// sameNamespaces reports whether a process is in the same process and mount namespaces as this process: in another
// container, the same path is another place.
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
