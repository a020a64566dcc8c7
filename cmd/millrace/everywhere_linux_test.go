package main_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// forEach runs a test for each list of arguments of each command.
func forEach(t *testing.T, do func(t *testing.T, fresh func() *tree, args []string)) {
	for name, variants := range everyCommand() {
		for _, args := range variants {
			args := append([]string{name}, args...)
			t.Run(strings.ReplaceAll(strings.Join(args, " "), "/", "_"), func(t *testing.T) {
				t.Parallel()
				do(t, func() *tree { return usedTree(t) }, args)
			})
		}
	}
}

// cut matches output for which the program has switched off line wrapping. A terminal cuts such lines at its edge.
var cut = regexp.MustCompile(`(?s)\x1b\[\?7l.*?\x1b\[\?7h`)

// again matches the sequences that overwrite a line: the cursor goes up, or back to the beginning of the line.
var again = regexp.MustCompile(`\x1b\[\d+A|\r+[^\r\n]`)

// tooWide returns a line that is overwritten although it is wider than the terminal. A part of it would stay visible.
func tooWide(shown string, columns int) string {
	shown = strings.ReplaceAll(shown, "\r\n", "\n")
	for line := range strings.Lines(cut.ReplaceAllString(shown, "")) {
		line = strings.TrimRight(line, "\n")
		if at := again.FindStringIndex(line); at != nil {
			drawn := own.ReplaceAllString(line[:at[0]], "")
			if utf8.RuneCountInString(drawn) > columns {
				return line
			}
		}
	}
	return ""
}

// At a narrow terminal no command panics, and no overwritten line is wider than the terminal. Colours appear only where
// they were requested.
func TestEveryCommandAtATerminal(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, fresh func() *tree, args []string) {
		for _, columns := range []int{40, 80} {
			for _, env := range []string{"NO_COLOR=1", "CLICOLOR_FORCE=1"} {
				if (columns == 40) != (env == "NO_COLOR=1") && os.Getenv("MILLRACE_SAMPLES") != "full" {
					continue
				}
				status, shown := fresh().atTerminal(columns, env, args...)
				where := fmt.Sprintf("%d columns, %s", columns, env)
				if status < 0 || strings.Contains(shown, "panic:") || strings.Contains(shown, "goroutine 1") {
					t.Errorf("%s: exit status %d\n%s", where, status, shown)
				}
				if line := tooWide(shown, columns); line != "" {
					t.Errorf("%s: this line is overwritten: %q", where, line)
				}
				if env == "NO_COLOR=1" && regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(shown) {
					t.Errorf("%s: the output has colours: %q", where, shown)
				}
			}
		}
	})
}

// atTerminal runs the program at a terminal of a width. Its input ends; the q in it ends a review.
func (tr *tree) atTerminal(columns int, env string, args ...string) (status int, shown string) {
	tr.t.Helper()
	tty := newTerminal(tr.t)
	size := &unix.Winsize{Row: 24, Col: uint16(columns)}
	if err := unix.IoctlSetWinsize(int(tty.host.Fd()), unix.TIOCSWINSZ, size); err != nil {
		tr.t.Fatal(err)
	}
	return tr.on(tty, "\x04q\x04\x04\x04", []string{env}, args...)
}

// If the output of a command is lost, its exit status is not 0, and stderr has no stack trace.
func TestEveryCommandWithoutOutput(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("the full device is missing: ", err)
	}
	t.Cleanup(func() { _ = full.Close() })
	r, closed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { _ = closed.Close() })
	forEach(t, func(t *testing.T, fresh func() *tree, args []string) {
		_, out, _ := fresh().run(args...)
		for where, stdout := range map[string]*os.File{"/dev/full": full, "a closed pipe": closed} {
			tr := fresh()
			cmd := tr.command(args...)
			var talk bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, stdout, &talk
			status := tr.status(cmd.Run())
			if status == 0 && out != "" {
				t.Errorf("%s: the exit status is 0, and this output is lost:\n%s", where, out)
			}
			if strings.Contains(talk.String(), "goroutine ") {
				t.Errorf("%s: exit status %d\n%s", where, status, talk.String())
			}
			if status == -1 && stdout == full {
				t.Errorf("%s: a signal ended the program\n%s", where, talk.String())
			}
		}
	})
}

// TestTooWide checks that tooWide finds the lines that TestEveryCommandAtATerminal looks for.
func TestTooWide(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 41)
	for shown, wide := range map[string]bool{
		long + "\r\n": false, long + "\r\x1b[K": true, "\x1b[?7l" + long + "\n\x1b[?7h\x1b[1A\r\x1b[J": false,
		"short\r\x1b[Kshort\r\n": false, "\x1b[31m" + long + "\x1b[0m\x1b[1A": true, long[1:] + "\ry": false,
	} {
		if got := tooWide(shown, 40); (got != "") != wide {
			t.Errorf("%q: %q", shown, got)
		}
	}
}
