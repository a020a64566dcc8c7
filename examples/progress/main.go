// Progress shows the progress of a run: on a terminal as a single line that changes, elsewhere as plain lines for a
// log.
//
//	go run ./examples/progress
//	go run ./examples/progress | cat
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

func main() {
	// A terminal is a character device. So is /dev/null, which ignores the output.
	info, err := os.Stdout.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	if err := run(context.Background(), os.Stdout, terminal); err != nil {
		log.Fatal(err)
	}
}

// run makes a tree of 200 files and changes half of them.
func run(ctx context.Context, w io.Writer, terminal bool) error {
	fsys := afero.NewMemMapFs()
	for i := range 200 {
		text := fmt.Sprintf("file %d\n%s", i, strings.Repeat("some more text\n", 1000))
		if i%2 == 0 {
			text += "color\n"
		}
		if err := afero.WriteFile(fsys, fmt.Sprintf("docs/%03d.txt", i), []byte(text), 0o644); err != nil {
			return err
		}
	}
	p, err := millrace.New("spelling").
		Options(millrace.Options{Force: true}). // so many files are a high risk
		Step("find", actions.Search{Pattern: "color"}).
		Step("fix", actions.Edit{OldText: "color", NewText: "colour"}).From("find").
		Step("check", actions.CountOccurrences{Pattern: "colour"}).From("find").
		Build()
	if err != nil {
		return err
	}
	m := &meter{w: w, terminal: terminal, steps: p.Len()}
	res, err := millrace.Executor{Observe: m.observe}.Run(ctx, fsys, p)
	m.close()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, res)
	return err
}
