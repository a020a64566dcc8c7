package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/fsutil"
)

// plainFs hides the type of an afero.Fs, so that only its interface can be used.
type plainFs struct{ afero.Fs }

// child is the hidden sub-command that does millrace's side of a job, only with the public API, and prints the same
// output as the other side.
func child(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("job", flag.ContinueOnError)
	slow := flags.Bool("slow", false, "through an afero.Fs that says nothing of itself")
	unlimited := flags.Bool("unlimited", false, "take files of any size")
	do := flags.String("do", "plan", "plan, run or restore")
	show := flags.String("print", "files", "files, counts, total, backup or nothing, of the last step")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return errors.New("usage: job [flags] DIR PIPELINE, @FILE with one, or the id of a backup for restore")
	}
	var fsys afero.Fs
	if *slow {
		fsys = afero.NewBasePathFs(plainFs{afero.NewOsFs()}, flags.Arg(0))
	} else {
		root, err := fsutil.OpenRoot(flags.Arg(0))
		if err != nil {
			return err
		}
		defer root.Close()
		fsys = root
	}
	// All backups are kept: removing thousands of files makes the next run slower, for reasons of the file system.
	x := millrace.Executor{State: millrace.State{Backups: backup.Retention{Keep: -1}}}
	if *unlimited {
		x.Limits.MaxFileBytes = -1
	}
	res, err := work(ctx, x, fsys, *do, flags.Arg(1))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(stdout)
	if err := printResult(w, res, *show); err != nil {
		return err
	}
	return w.Flush()
}

// work does one of three things that an executor can do with a tree.
func work(ctx context.Context, x millrace.Executor, fsys afero.Fs, do, what string) (*millrace.Result, error) {
	if do == "restore" {
		return x.Restore(ctx, fsys, what)
	}
	text := []byte(what)
	if file, ok := strings.CutPrefix(what, "@"); ok {
		var err error
		if text, err = os.ReadFile(file); err != nil { // an argument may not be longer than 128 KiB
			return nil, err
		}
	}
	p, err := millrace.Decode(text)
	if err != nil {
		return nil, err
	}
	switch do {
	case "plan":
		plan, err := x.Plan(ctx, fsys, p)
		if err != nil {
			return nil, err
		}
		return plan.Result(), nil
	case "run":
		return x.Run(ctx, fsys, p)
	}
	return nil, fmt.Errorf("do %q: it is plan, run or restore", do)
}

// printResult prints, of the last step, the files with matches, or path:count, or the sum; or the id of the backup.
func printResult(w io.Writer, res *millrace.Result, show string) error {
	switch show {
	case "nothing":
		return nil
	case "backup":
		_, err := fmt.Fprintln(w, res.BackupID)
		return err
	}
	if len(res.Results) == 0 {
		return errors.New("the run has no step to print")
	}
	last := res.Results[len(res.Results)-1]
	total := 0
	for _, name := range slices.Sorted(maps.Keys(last.Counts)) {
		n := last.Counts[name]
		total += n
		switch {
		case n == 0:
		case show == "files":
			fmt.Fprintln(w, name)
		case show == "counts":
			fmt.Fprintf(w, "%s:%d\n", name, n)
		}
	}
	if show == "total" {
		fmt.Fprintln(w, total)
	}
	return nil
}
