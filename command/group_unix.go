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

// maxCookie bounds the cookie of the command in which this program itself runs: commands may be nested.
const maxCookie = 1 << 10

// group is all processes of one command: a process group, which is also a session, the processes with the token in
// their environment, and the processes with the mark.
type group struct {
	token string
	mark  sandbox.Mark
	pid   int // of the program; the group and the session have the same number
}

func newGroup(root string) (*group, error) {
	return &group{token: rand.Text() + rootMark(root), mark: sandbox.NewMark()}, nil
}

// marked adds the mark of the group to the rules of its command.
func (g *group) marked(rules *sandbox.Rules) *sandbox.Rules {
	if rules != nil {
		rules.Mark = g.mark
	}
	return rules
}

// cookie returns the value that marks the processes of the command.
func (g *group) cookie() string {
	outer := os.Getenv(cookie)
	if outer == "" || len(outer) > maxCookie || strings.ContainsRune(outer, 0) {
		return g.token
	}
	return outer + "." + g.token
}

// prepare does nothing, because starting the command creates its session.
func (g *group) prepare(*exec.Cmd) {}

func (g *group) started(process *os.Process) error {
	g.pid = process.Pid
	return nil
}

// terminate asks the group to end.
func (g *group) terminate() { g.signal(syscall.SIGTERM) }

// kill ends the group.
func (g *group) kill() { g.signal(syscall.SIGKILL) }

// signal sends a signal to the group. The number of the group is not reused while a process of it is left.
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
