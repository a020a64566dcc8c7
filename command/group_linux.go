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

// sweep kills what is left of the command, until nothing is.
func (g *group) sweep() error {
	deadline := time.Now().Add(dying)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		left, err := g.left()
		if err != nil {
			g.kill() // without /proc there is only the group
			return nil
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the command has left %d processes that cannot be killed, the first of them %d", len(left), left[0])
		}
		for _, pid := range left {
			g.killOne(pid)
		}
		time.Sleep(wait)
	}
}

// left returns the processes of the command that still run.
func (g *group) left() ([]int, error) {
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
		if pid, err := strconv.Atoi(name); err == nil && pid != self && g.has(pid) {
			left = append(left, pid)
		}
	}
	return left, nil
}

// has reports whether a process belongs to the command and runs. A process whose first thread has ended and others have
// not looks like a dead one, and shows its environment in those.
func (g *group) has(pid int) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return false
	}
	state, pgrp, session := parseStat(stat)
	if state != 'Z' && state != 'X' {
		return pgrp == g.pid || session == g.pid || g.inEnviron(dir)
	}
	threads, _ := filepath.Glob(filepath.Join(dir, "task", "*"))
	for _, thread := range threads {
		if filepath.Base(thread) == filepath.Base(dir) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(thread, "stat"))
		if err != nil {
			continue
		}
		if state, _, _ := parseStat(stat); state != 'Z' && state != 'X' {
			return pgrp == g.pid || session == g.pid || g.inEnviron(thread)
		}
	}
	return false
}

// inEnviron reports whether a process was started with the token in its environment.
func (g *group) inEnviron(dir string) bool {
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	return err == nil && bytes.Contains(env, []byte(g.token))
}

// parseStat reads state, process group and session. The name of the program before them may have any characters.
func parseStat(stat []byte) (state byte, pgrp, session int) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 4 || len(fields[0]) != 1 {
		return 0, 0, 0
	}
	pgrp, _ = strconv.Atoi(fields[2])
	session, _ = strconv.Atoi(fields[3])
	return fields[0][0], pgrp, session
}

// killOne kills a process that belongs to the command, and not another one that has got its number meanwhile.
func (g *group) killOne(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil { // a kernel, or a container, without these
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if g.has(pid) {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}
