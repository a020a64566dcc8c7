// Jsonfile runs a pipeline from a JSON file on a directory. Exit status 1 means that the pipeline or a step failed, and
// that the directory is as it was.
//
//	go run ./examples/jsonfile [-n] [-dir DIR] PIPELINE.json
//
// With -n it only shows what would be done.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

func main() {
	dryRun := flag.Bool("n", false, "show the diff, write nothing")
	dir := flag.String("dir", ".", "the `directory` to work on")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, *dir, flag.Arg(0), *dryRun); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, dir, file string, dryRun bool) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	p, err := millrace.Decode(data)
	if err != nil {
		return err
	}
	tree, err := fsutil.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer tree.Close()

	plan, err := millrace.Executor{}.Plan(ctx, tree, p)
	if err != nil {
		return err
	}
	if dryRun || p.Options().DryRun {
		if err := plan.WriteDiff(out); err != nil {
			return err
		}
		return plan.Result().Write(out)
	}
	res, err := plan.Commit(ctx)
	return errors.Join(err, res.Write(out)) // there is a result beside an error, too
}
