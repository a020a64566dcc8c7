package cli_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
)

// condition is [mounts] of scripts: in its own namespace, a program can mount a file on another file.
func condition(name string) (bool, error) {
	switch name {
	case "mounts":
		return exec.Command("unshare", "-rm", "sh", "-c", "mount --bind /dev/null /dev/null").Run() == nil, nil
	case "modernize": // the build tag nomodernize leaves these analyzers out
		_, err := registry.Decoder().Decode([]byte(`{"name": "p", "steps": [{"id": "f", "action": "go_fix", "params": {"analyzers": ["modernize"]}}]}`))
		return err == nil, nil
	}
	return false, fmt.Errorf("there is no condition %q", name)
}

// status is the command `status N millrace ARG…` of scripts: the program must end with exit status N. Its output is
// available to stdout and stderr, as after exec.
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
