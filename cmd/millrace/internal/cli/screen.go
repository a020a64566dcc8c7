package cli

import (
	"io"
	"os"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
)

// style returns the style of text for a stream.
func (a *App) style(stream any) render.Style {
	terminal := tty.IsTerminal(stream)
	color := tty.Color(a.flags.color, a.Getenv, terminal)
	if terminal && color {
		color = tty.Escapes(stream)
	}
	return render.Style{Color: color, Terminal: terminal}
}

// terminalStyle returns the style of text on the terminal for questions.
func (a *App) terminalStyle() render.Style {
	return render.Style{Color: tty.Color(a.flags.color, a.Getenv, true), Terminal: true}
}

// showDiff writes the diff of a plan to stdout, through the pager if stdout is a terminal. w also writes to stdout.
func (s *session) showDiff(w io.Writer, plan *millrace.Plan) error {
	style := s.style(s.Stdout)
	return s.paged(w, func(w io.Writer) error { return render.Diff(w, plan, style) })
}

// paged writes a long text to stdout, through the pager if stdout is a terminal, otherwise to w, which also writes to
// stdout.
func (a *App) paged(w io.Writer, write func(io.Writer) error) error {
	a.progress.Done()
	out, ok := a.Stdout.(*os.File)
	if ok && !a.flags.noPager && tty.IsTerminal(out) {
		var configured *string
		if a.config.PagerSet {
			configured = &a.config.Pager
		}
		if command := tty.Pager(a.lookupEnv, configured); command != "" {
			return tty.Page(command, out, write)
		}
	}
	return write(w)
}

func (a *App) lookupEnv(name string) (string, bool) {
	if a.LookupEnv != nil {
		return a.LookupEnv(name)
	}
	value := a.Getenv(name)
	return value, value != ""
}

// live reports whether stderr is a terminal on which lines can be redrawn.
func (a *App) live() bool {
	return tty.IsTerminal(a.Stderr) && !a.flags.quiet && tty.Escapes(a.Stderr) && a.Getenv("TERM") != "dumb"
}

// showProgress starts a progress line, if stderr is a terminal.
func (a *App) showProgress() {
	if a.live() {
		a.progress = millrace.Progress(a.Stderr)
	}
}

// observed returns an observer that records the state of the tree, shows the progress, and then calls next, if there is
// one.
func (a *App) observed(next func(millrace.Event)) func(millrace.Event) {
	if a.progress == nil && a.interrupts == nil {
		return next
	}
	return func(e millrace.Event) {
		a.interrupts.observe(e)
		a.progress.Observe(e)
		if next != nil {
			next(e)
		}
	}
}
