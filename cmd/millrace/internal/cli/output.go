package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
	"github.com/millrace-go/millrace/fsutil"
)

// output wraps an error of stdout in an outputError.
func output(err error) error {
	if err == nil {
		return nil
	}
	return &outputError{err}
}

// texts receives cobra's help and similar texts. Cobra cannot return a write error.
type texts struct {
	to  io.Writer
	err error // the first write error
}

func (t *texts) Write(p []byte) (int, error) {
	_, err := io.WriteString(t.to, render.Refill(string(p), tty.Columns(t.to)))
	if t.err == nil {
		t.err = err
	}
	return len(p), err
}

// write writes to stdout.
func (a *App) write(text string) error {
	_, err := io.WriteString(a.Stdout, text)
	return err
}

// writeShown writes lines of files and programs to stdout. On a terminal, control characters in them are escaped.
func (a *App) writeShown(text string) error { return a.write(shown(a.Stdout, text) + "\n") }

// writeReport writes sentences and tables to stdout, in the way that complain writes to stderr.
func (a *App) writeReport(text string) error { return a.write(laidOut(a.Stdout, endLine(text))) }

// writeJSON writes one object to stdout, on one line.
func (a *App) writeJSON(v any) error { return encodeJSON(a.Stdout, v) }

// complain writes lines to stderr, wrapped for a terminal, with control characters escaped.
func (a *App) complain(text string) {
	a.progress.Clear()
	_, _ = io.WriteString(a.Stderr, laidOut(a.Stderr, text+"\n")) // a failure cannot be reported anywhere else
}

// talk writes a line to stderr, unless -q is given. Text of files and names is escaped for a terminal.
func (a *App) talk(format string, args ...any) {
	if a.flags.quiet {
		return
	}
	a.complain(fmt.Sprintf(format, args...))
}

// shown escapes control characters if w is a terminal. Otherwise the bytes stay unchanged.
func shown(w io.Writer, text string) string {
	if !tty.IsTerminal(w) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = fsutil.Visible(line)
	}
	return strings.Join(lines, "\n")
}

// laidOut escapes a text for people, and breaks its lines at words, if w is a terminal. Every sentence and every table
// of the program passes through it; the texts of files, diffs and programs do not.
func laidOut(w io.Writer, text string) string { return render.Wrap(shown(w, text), tty.Columns(w)) }

// ask asks a question at the terminal, wrapped to its width.
func (a *App) ask(ctx context.Context, question string) (string, error) {
	t := a.terminal()
	return t.Ask(ctx, render.Wrap(question, tty.Columns(t)))
}

// writePipelineText writes the text of a pipeline to stdout, byte for byte unless stdout is a terminal.
func (a *App) writePipelineText(text []byte, yaml bool) error {
	switch {
	case yaml:
		return a.write(shown(a.Stdout, string(text)))
	case tty.IsTerminal(a.Stdout):
		text = visibleJSON(text)
	}
	return a.write(string(text))
}

// encodeJSON writes one object on a line. Characters are not escaped, except those that would control a terminal.
func encodeJSON(w io.Writer, v any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(visibleJSON(line.Bytes()))
	return err
}
