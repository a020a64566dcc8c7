package cli_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// condition is [mounts] of scripts: in a namespace of its own, a program can mount a file on another one.
func condition(name string) (bool, error) {
	if name != "mounts" {
		return false, fmt.Errorf("there is no condition %q", name)
	}
	return exec.Command("unshare", "-rm", "sh", "-c", "mount --bind /dev/null /dev/null").Run() == nil, nil
}

// status is the command `status N millrace ARG…` of scripts: the program has to end with exit status N. What it wrote
// is there for stdout and stderr, as after exec.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
