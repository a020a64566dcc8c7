//go:build unix

package command

import (
	"crypto/rand"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/sandbox"
)

// Errors of a start when a program is still being written, and when there are too many arguments.
const (
	errTextBusy = syscall.ETXTBSY
	errTooLong  = syscall.E2BIG
)

// maxCookie bounds what is taken over of the command in which this program itself runs: commands in commands in
// commands.
const maxCookie = 1 << 10

// group is all that belongs to one command: a process group, which is also a session, what has the token in its
// environment, and what has the mark.
type group struct {
	token string
	mark  sandbox.Mark
	pid   int // of the program, which is the number of the group and of the session
}

func newGroup(root string) (*group, error) {
	return &group{token: rand.Text() + rootMark(root), mark: sandbox.NewMark()}, nil
}

// marked puts the mark of the group into the rules of its command.
func (g *group) marked(rules *sandbox.Rules) *sandbox.Rules {
	if rules != nil {
		rules.Mark = g.mark
	}
	return rules
}

// cookie is the value by which its processes are found.
func (g *group) cookie() string {
	outer := os.Getenv(cookie)
	if outer == "" || len(outer) > maxCookie || strings.ContainsRune(outer, 0) {
		return g.token
	}
	return outer + "." + g.token
}

// prepare does nothing: what starts the command makes its session.
func (g *group) prepare(*exec.Cmd) {}

func (g *group) started(process *os.Process) error {
	g.pid = process.Pid
	return nil
}

// terminate asks the group to end.
func (g *group) terminate() { g.signal(syscall.SIGTERM) }

// kill ends the group.
func (g *group) kill() { g.signal(syscall.SIGKILL) }

// signal sends a signal to the group. Its number is not given to another one while a process of it is left.
func (g *group) signal(s syscall.Signal) { _ = syscall.Kill(-g.pid, s) }

func (g *group) close() {}

// ending returns the exit status, and the name of the signal that has ended the program.
func ending(state *os.ProcessState) (code int, signal string) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return state.ExitCode(), ""
	}
	if signal = unix.SignalName(status.Signal()); signal == "" {
		signal = status.Signal().String() // a real-time signal, which has a number only
	}
	return -1, signal
}
