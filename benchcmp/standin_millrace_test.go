package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// commandLine does as much of the command line as the jobs ask for: version, a list of runs, a program, and replace as a
// pipeline or at once.
func commandLine(args []string, stdout io.Writer) error {
	if slices.Equal(args, []string{"version"}) {
		_, err := fmt.Fprintln(stdout, "stand-in for millrace")
		return err
	}
	if len(args) > 0 && args[0] == "runs" {
		_, err := io.WriteString(stdout, strings.Repeat("canceled\n", 20))
		return err
	}
	if at := slices.Index(args, "--"); at > 0 && args[0] == "-C" && args[2] == "exec" {
		cmd := exec.Command(args[at+1], args[at+2:]...)
		cmd.Dir = args[1]
		return cmd.Run()
	}
	if len(args) < 7 || args[0] != "-C" || args[2] != "replace" {
		return errors.New("the stand-in does not know what that is")
	}
	text := replacing(args[3], args[4])
	if slices.Contains(args, "--emit") {
		_, err := io.WriteString(stdout, text)
		return err
	}
	p, err := millrace.Decode([]byte(text))
	if err != nil {
		return err
	}
	root, err := fsutil.OpenRoot(args[1])
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = millrace.Run(context.Background(), root, p)
	return err
}
