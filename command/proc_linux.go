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
	// dying is how long killed processes may take to be gone. One that waits for a disk that does not answer takes
	// longer.
	dying = 10 * time.Second
	// doubting is how long processes that come and go too fast to be looked at are hunted after a wanted process was
	// met. The fast processes may be those of others.
	doubting = time.Second
	// doubts is how often they are looked for then at least: on a busy machine one time may take longer than that.
	doubts = 10
	// starting is how long processes are waited for that are about to become other programs.
	starting = 5 * time.Second
)

// errNoProc reports that processes cannot be looked for.
var errNoProc = errors.New("there is no /proc")

// mark reports whether a process is looked for, by its directory in /proc, the environment that it was started with
// (nil if that is not to be had), its process group and its session.
type mark func(dir string, env []byte, pgrp, session int) bool

// killAll kills the processes that are looked for, until none is left. A process that was there and is gone when it is
// looked at may have been a wanted process and have left a child, so the hunt goes on: a program that forks again and
// again and lets each father go would get away.
func killAll(is mark) error {
	h := hunt{is: is, known: make(map[int]bool), killed: make(map[int]bool)}
	begun, wait := time.Now(), time.Millisecond
	met, rounds := begun, 0 // when such a process was met, and how often they were looked for since then
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
		if (len(left) > 0 || h.starting) && slices.Equal(left, before) { // they are killed, or begin, and need time
			time.Sleep(wait)
			wait = min(2*wait, 20*time.Millisecond)
		}
		before = left
	}
}

// longEnviron is how many bytes of an environment are read at first.
const longEnviron = 16 << 10

// hunt kills processes that are looked for.
type hunt struct {
	is    mark
	known map[int]bool // those that are not looked for
	// killed are those that were found. On their way out they show nothing of themselves any more, and still are there.
	killed map[int]bool
	// starting means that in this round a process was met that is about to become another program. It shows nothing of
	// itself until it has. On a busy machine that takes a while.
	starting bool
	text     []byte // environ reads into it
}

// environ returns what environment a process was started with, until it is called again. It is read at once: between
// two calls of the system the process may become another program, and what is left of the first one's then ends in its
// middle, perhaps before what is looked for.
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
		h.text = make([]byte, 2*len(h.text)) // the system bounds it at some megabytes
	}
}

// round looks at all processes once, kills those that are looked for, and returns them; unsure means that some were
// gone before they could be looked at. The newest come first, for the others will still be there. All are stopped
// before the first is killed: a script whose program is killed would go on with its next one.
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
		if h.signal(pid, syscall.SIGKILL) == ours { // else it shows nothing of itself just now
			h.killed[pid] = true
		}
	}
	return append(left, stopped...), unsure, nil
}

// Kinds of process that look returns.
const (
	gone   = iota // it cannot be known any more
	others        // it is not looked for
	ours
)

// signal sends a signal to a process if it is looked for. The process is pinned before it is looked at, so that a new
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
	case err != nil: // a kernel, or a container, without these
		_ = syscall.Kill(pid, sig)
	default:
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
	return what
}

// hasEnded reports whether no thread of a process runs any more.
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

// livingThread returns the directory of a thread that has not ended, of a process whose first one has; "" for none.
func livingThread(dir string) string {
	threads, _ := filepath.Glob(filepath.Join(dir, "task", "*"))
	if i := slices.IndexFunc(threads, func(thread string) bool { return stat(thread).state == alive }); i >= 0 {
		return threads[i]
	}
	return ""
}

// look returns the kind of a process. A process whose first thread has ended and others have not looks like a dead
// process, and shows its environment in the other threads.
func (h *hunt) look(pid int) int {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	was := stat(dir)
	switch was.state {
	case missing:
		return gone
	case dead:
		living := livingThread(dir)
		if living == "" {
			h.known[pid] = true // it stays what it is, and may stay for long
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
		return gone // it is ending, and has no environment any more, or it has ended, perhaps before that was read
	case err != nil:
		return others
	}
	// It was started without any, or it is becoming another program, which has none until all of it is in its place.
	before := stat(dir)
	env, err = h.environ(dir)
	switch {
	case errors.Is(err, unix.ESRCH):
		return gone
	case err == nil && h.is(dir, env, before.pgrp, before.session):
		return ours // it has become one meanwhile
	}
	if after := stat(dir); len(env) == 0 && err == nil && (!before.placed() || after.program != before.program) {
		h.starting = h.starting || after.state == alive
		return gone
	}
	return others
}

// Fields that stat has of a process or thread.
const (
	missing = iota
	dead
	alive
)

// status is the result of stat.
type status struct {
	state, pgrp, session int
	kernel               bool // a thread of the kernel
	// program is where the code of the program begins and ends, and its stack begins. The end is the last thing that is
	// set when a process becomes another program, after its environment, and is 0 before.
	program [3]string
}

// placed reports whether all of the program of a process is in its place.
func (s status) placed() bool { return s.program[1] != "" && s.program[1] != "0" }

// stat reads what a process or thread is. The name of the program in it may have any characters.
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

// sameNamespaces reports whether a process has the same processes and files around it as this one: in another
// container, a path that is written the same is another place.
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
