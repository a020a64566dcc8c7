// Quickstart renames a type in a real tree of some hundred Go files: it shows the change, commits it, undoes it, and
// verifies that every byte, mode and link is as before.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -dir DIR -old OldName -new NewName [-force]
//
// Without -dir it works on a copy of Go's package net in a temporary directory. With -force it continues even if more
// files change, or the risk is higher, than allowed without force.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

func main() {
	dir := flag.String("dir", "", "the `tree` to work on (default: a copy of Go's package net)")
	oldName := flag.String("old", "Resolver", "the type's `name`")
	newName := flag.String("new", "NameResolver", "the type's new `name`")
	force := flag.Bool("force", false, "go on whatever the number of files and the risk")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *dir, *oldName, *newName, *force); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// pipeline returns a rename in five steps: find the definition, edit it, find the uses, edit them, and count the uses
// of the old name that are left.
func pipeline(oldName, newName string) (millrace.Pipeline, error) {
	word := `\b` + oldName + `\b`
	goFiles := []string{".go"}
	return millrace.New("rename-type").
		Step("find-type", actions.Search{Pattern: `\btype ` + word, Mode: "regex", FileTypes: goFiles}).
		Step("rename-type", actions.Edit{OldText: word, NewText: newName, Mode: "regex"}).From("find-type").
		Step("find-imports", actions.Search{Pattern: `\b(net\.)?` + word, Mode: "regex", FileTypes: goFiles}).
		Step("fix-imports", actions.Edit{OldText: word, NewText: newName, Mode: "regex"}).From("find-imports").
		Step("verify", actions.CountOccurrences{Pattern: word, Mode: "regex"}).FromAll("find-type", "find-imports").
		Build()
}

func run(ctx context.Context, out io.Writer, dir, oldName, newName string, force bool) (err error) {
	if dir == "" {
		var cleanup func() error
		if dir, cleanup, err = copyOfNet(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, cleanup()) }()
	}
	tree, err := fsutil.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer tree.Close()
	p, err := pipeline(oldName, newName)
	if err != nil {
		return err
	}
	before, err := treeHash(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "tree before:   %s\n\n", before)

	var x millrace.Executor
	plan, err := x.Plan(ctx, tree, p)
	if err != nil {
		return err
	}
	defer plan.Close()
	fmt.Fprintf(out, "%s\n", firstLines(plan.Diff(), 24))
	fmt.Fprintf(out, "dry run:       %s\n\n", plan.Result())

	res, err := plan.WithForce(force).Commit(ctx)
	if blocked, ok := errors.AsType[*millrace.BlockedError](err); ok && !blocked.Host {
		return fmt.Errorf("nothing was written: %w (here: -force)", err)
	}
	if err != nil {
		return err
	}
	if err := res.WriteReport(out); err != nil {
		return err
	}
	after, err := treeHash(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\ntree after:    %s\n", after)

	if res.BackupID != "" {
		if _, err := x.Restore(ctx, tree, res.BackupID); err != nil {
			return err
		}
	}
	restored, err := treeHash(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "tree restored: %s\n", restored)
	if restored != before {
		return errors.New("the restored tree is not what it was")
	}
	if after == before {
		return fmt.Errorf("nothing was renamed: is there a type %s?", oldName)
	}
	fmt.Fprintln(out, "every byte, mode and link is back")
	return nil
}

// copyOfNet copies Go's package net to a temporary directory.
func copyOfNet() (dir string, cleanup func() error, err error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	if dir, err = os.MkdirTemp("", "millrace-quickstart-"); err != nil {
		return "", nil, err
	}
	cleanup = func() error { return os.RemoveAll(dir) }
	from := filepath.Join(strings.TrimSpace(string(goroot)), "src", "net")
	if err := os.CopyFS(filepath.Join(dir, "net"), os.DirFS(from)); err != nil {
		return "", nil, errors.Join(err, cleanup())
	}
	return filepath.Join(dir, "net"), cleanup, nil
}

func firstLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= n {
		return text
	}
	return strings.Join(lines[:n], "") + fmt.Sprintf("... and %d more lines of diff\n", len(lines)-n-1)
}
