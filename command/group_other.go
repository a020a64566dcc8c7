//go:build !unix && !windows

package command

import (
	"errors"
	"os"
	"os/exec"

	"github.com/millrace-go/millrace/internal/sandbox"
)

// Errors of a start, on other systems, when a program is still being written, and when there are too many arguments.
var (
	errTextBusy = errors.New("the program is being written")
	errTooLong  = errors.New("there are too many arguments")
)

// group is only the program of a command: nothing more is known here.
type group struct{ process *os.Process }

// marked returns the rules: this system has no marks.
func (g *group) marked(rules *sandbox.Rules) *sandbox.Rules { return rules }

func newGroup(string) (*group, error) { return &group{}, nil }

func (g *group) cookie() string { return "1" }

func (g *group) prepare(*exec.Cmd) {}

func (g *group) started(process *os.Process) error {
	g.process = process
	return nil
}

func (g *group) terminate() {}

func (g *group) kill() { _ = g.process.Kill() }

func (g *group) sweep() error { return nil }

func (g *group) close() {}

// ending returns the exit status.
func ending(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }
