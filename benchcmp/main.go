// Benchcmp measures millrace side by side with the tools that a user would type otherwise, on one tree, in one run,
// in turn, and prints the table of docs/performance.md.
//
//	cd benchcmp && go run . -rg PATH/TO/rg -markdown
//
// It is a module of its own, because no user of the library needs it. It uses only the public API of the library. It
// makes its corpus from pinned modules of the Go module proxy, compares the results of both sides, and exits with 1 if
// they differ. Each side of each job is a process of its own; millrace's side is this program again.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchcmp:", err)
		os.Exit(1)
	}
}

// dispatch makes the table or the part of a table that the arguments request.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "measure":
			return measure(ctx, args[1:], stdout)
		case "job":
			return child(ctx, args[1:], stdout)
		case "small":
			return small(ctx, args[1:], stdout)
		case "exec":
			return execTree(ctx, args[1:], stdout)
		case "idle":
			return nil
		case "runs":
			return runsCommand(ctx, args[1:], stdout)
		}
	}
	return table(ctx, args, stdout, stderr)
}

var errFailed = errors.New("not all jobs could be measured, or results are wrong; see above")

// table measures.
func table(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("benchcmp", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("corpus", "",
		"directory for the corpus and for copies of it, about 12 GB; default benchcmp in the user's cache")
	tiny := flags.Bool("small", false, "a small corpus and small trees, for trying out")
	runs := flags.Int("runs", 5, "rounds that are measured")
	warm := flags.Int("warm", 1,
		"rounds before them, that are not; one more where a tree is changed forth and back and the sum is odd")
	only := flags.String("only", "", "jobs to run, as a regular expression")
	list := flags.Bool("list", false, "list the jobs and stop")
	ripgrep := flags.String("rg", "rg", "ripgrep")
	program := flags.String("millrace", "millrace",
		"the command line of this repository: go -C cmd/millrace build -o FILE .")
	jsonFile := flags.String("json", "", "file for all figures")
	markdown := flags.Bool("markdown", false, "print the tables in Markdown")
	keep := flags.Bool("keep", false, "keep the copies and generated trees")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	switch {
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("%q: only flags are allowed, not arguments", flags.Arg(0))
	case *runs < 1 || *warm < 0:
		return errors.New("-runs is at least 1, -warm at least 0")
	}
	if *list {
		for _, j := range jobs() {
			fmt.Fprintln(stdout, j.name)
		}
		return nil
	}
	if *dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		*dir = filepath.Join(cache, "benchcmp")
	}
	b := &bench{runs: *runs, warm: *warm, scale: full(), tools: findTools(ctx, *ripgrep, *program)}
	b.logf = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = filepath.Abs(*dir); err != nil {
		return err
	}
	name, from := "full", sources()
	if *tiny {
		name, from, b.scale = "small", smallSources(), kubernetes()
	}
	if b.tree, b.base, err = corpus(ctx, b.dir, name, from, b.logf); err != nil {
		return err
	}
	if !*keep {
		defer func() { err = cmp.Or(err, b.clear()) }() // it takes a while, so what was measured is shown before
	}
	report, err := b.all(ctx, wanted, stdoutUnless(*markdown, stdout, stderr))
	if err != nil {
		return err
	}
	if *markdown {
		report.markdown(stdout)
	}
	if *jsonFile != "" {
		err = report.write(*jsonFile)
	}
	if err == nil && report.failed() {
		err = errFailed
	}
	return err
}

// stdoutUnless returns stderr if stdout is reserved for the tables.
func stdoutUnless(markdown bool, stdout, stderr io.Writer) io.Writer {
	if markdown {
		return stderr
	}
	return stdout
}

// all runs the wanted jobs, and checks at the end that the corpus is unchanged.
func (b *bench) all(ctx context.Context, wanted *regexp.Regexp, progress io.Writer) (report Report, err error) {
	start := time.Now()
	if err := b.clear(); err != nil { // remains of an interrupted run
		return report, err
	}
	if err := os.MkdirAll(b.work(""), 0o755); err != nil {
		return report, err
	}
	report = Report{Host: host(ctx, b.dir, b.tools), Corpus: b.base, Runs: b.runs, Warm: b.warm}
	for _, name := range slices.Sorted(maps.Keys(report.Host.Tools)) {
		fmt.Fprintf(progress, "%-24s %s\n", name, report.Host.Tools[name])
	}
	for _, j := range jobs() {
		if !wanted.MatchString(j.name) {
			continue
		}
		e := b.do(ctx, j)
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		e.text(progress)
		report.Entries = append(report.Entries, e)
	}
	if err := sameTrees("the corpus in the end", b.tree, b.base); err != nil {
		return report, err
	}
	report.Took = time.Since(start)
	fmt.Fprintf(progress, "took %s\n", report.Took.Round(time.Second))
	return report, nil
}
