package hostile_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// childVariable is the environment variable that makes TestMain run another program instead of the tests. The arguments
// of the program follow "--".
const childVariable = "MILLRACE_HOSTILE_CHILD"

// child returns the program of that name.
func child(name string) func(args []string) error {
	switch name {
	case "hold":
		return holdChild
	case "run":
		return runChild
	case "handles":
		return handlesChild
	case "measure":
		return measureChild
	}
	return nil
}

// TestMain runs the tests, or a program that a test starts.
func TestMain(m *testing.M) {
	name := os.Getenv(childVariable)
	if name == "" {
		os.Exit(fstest.Main(m))
	}
	program := child(name)
	err := errors.New("no such program")
	if program != nil {
		err = program(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// command returns a command that runs such a program.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}
