//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// TestPicture reviews a change at a terminal, and compares docs/review.svg with the picture of that terminal. With
// -update it writes the picture.
func TestPicture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, readmeTree)
	shown := review(t, dir, []string{"y", "n", "y"}, "millrace", "replace", "-p", "recieve", "receive")
	got := svg("$ millrace replace -p recieve receive\n" + string(bytes.ReplaceAll(shown, []byte("\r\n"), []byte("\n"))))
	name := filepath.Join("..", "..", "..", "..", "docs", "review.svg")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/review.svg is not the picture of a review (-update writes it):\n%s", diff)
	}
	for file, want := range map[string]string{"docs/mail.md": "receive", "src/mail.go": "recieve"} {
		if data, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
}

// review runs a command at its own terminal, types an answer after each question, and returns the output.
func review(t *testing.T, dir string, answers []string, command string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	defer screen.Close()
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 40, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	// The program shows each key that it reads. The terminal would show it a second time if it arrived too early.
	quiet := exec.CommandContext(ctx, "stty", "-echo")
	quiet.Stdin = terminal
	if err := quiet.Run(); err != nil {
		t.Skipf("stty: %v", err)
	}
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, terminal, terminal, terminal
	home := t.TempDir()
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return v == "NO_COLOR=1" }),
		"HOME="+home, "XDG_CONFIG_HOME="+home, "LC_ALL=C.UTF-8", "TERM=xterm-256color")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	var shown []byte
	piece, seen := make([]byte, 4096), 0
	for {
		n, err := screen.Read(piece)
		shown = append(shown, piece[:n]...)
		byKey, byLine := bytes.HasSuffix(shown, []byte("?] \x1b[m")), bytes.HasSuffix(shown, []byte("[N]o\x1b[m  "))
		if (byKey || byLine) && len(answers) > 0 && len(shown) > seen {
			answer := answers[0]
			if answers, seen = answers[1:], len(shown); byLine {
				answer += "\n"
				shown = append(shown, answer...) // as a terminal would show it
			}
			if _, err := screen.WriteString(answer); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil { // the end of a terminal is an error only on Linux
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, shown)
	}
	return shown
}
