// Jsonfile runs a pipeline from a JSON file on a directory. Exit status 1 means that the pipeline failed. The directory
// is then unchanged, unless the pipeline has "stop_on_error": false, or the message reports that the tree needs
// recovery.
//
//	go run ./examples/jsonfile [-n] [-dir DIR] PIPELINE.json
//
// With -n it only shows the diff.
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
	if plan == nil {
		return err
	}
	defer plan.Close()
	res := plan.Result() // a plan with an error also has a result
	switch {
	case err != nil: // a step has failed
	case dryRun || p.Options().DryRun:
		err = plan.WriteDiff(out)
	default:
		res, err = plan.Commit(ctx)
	}
	for _, warning := range res.AllWarnings() {
		fmt.Fprintln(os.Stderr, "warning:", warning)
	}
	return errors.Join(err, res.Write(out))
}
