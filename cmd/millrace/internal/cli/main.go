package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
)

// Main runs the command of the process, and returns the exit status.
func Main() int {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "millrace: %v\n", err)
		return exitUsage
	}
	i := &interrupts{stderr: os.Stderr}
	a := &App{
		interrupts: i,
		Stdin:      os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, LookupEnv: os.LookupEnv, Dir: dir, Terminal: tty.Open(os.Getenv),
	}
	ctx, stop := i.context(context.Background())
	defer stop()
	return a.Run(ctx, os.Args[1:])
}
