package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// commandLine does as much of the command line as the jobs ask for: version, and replace as a pipeline or at once.
func commandLine(args []string, stdout io.Writer) error {
	if slices.Equal(args, []string{"version"}) {
		_, err := fmt.Fprintln(stdout, "stand-in for millrace")
		return err
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
