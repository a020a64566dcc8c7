//go:build unix

package main_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A closed output never leaves a commit half done.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"run", "swap.json"}, {"run", "swap.json", "-v"}, {"run", "swap.json", "--format", "diff"}, {"run", "swap.json", "--format", "json"},
		{"run", "swap.json", "--format", "jsonl"}, {"run", "swap.json", "-q"}, {"run", "swap.json", "--events", "-"},
		{"replace", "-y", "--force", "before", "after"},
	} {
		for _, closed := range []string{"stdout", "stderr", "both"} {
			t.Run(closed+" of "+strings.Join(args, " "), func(t *testing.T) {
				t.Parallel()
				tr := manyFiles(t, 60)
				if args[0] == "replace" {
					for _, name := range []string{"swap.json", "moved/a", "gone"} {
						if err := os.Remove(tr.dir + "/" + name); err != nil {
							t.Fatal(err)
						}
					}
				}
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				cmd := tr.command(args...)
				var talk bytes.Buffer
				cmd.Stdout, cmd.Stderr = io.Discard, &talk
				if closed != "stderr" {
					cmd.Stdout = w
				}
				if closed != "stdout" {
					cmd.Stderr = w
				}
				r.Close()
				err = cmd.Run()
				w.Close()
				status := tr.status(err)
				isChanged := true
				if args[0] != "replace" {
					isChanged = tr.whole()
				} else if data, err := os.ReadFile(tr.dir + "/d/0/0.txt"); err != nil || string(data) != changed {
					isChanged = false
				}
				// -1: before its commit the program ends by SIGPIPE, as other programs in a shell pipeline do.
				if status != -1 && !isChanged || status == -1 && isChanged {
					t.Errorf("exit status %d, and the tree is changed: %v\n%s", status, isChanged, talk.String())
				}
				if status > 1 {
					t.Errorf("exit status %d\n%s", status, talk.String())
				}
				tr.clean()
			})
		}
	}
}

// As TestClosedOutput, but the reader closes the output after the first line, at any moment.
func TestHead(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("head"); err != nil {
		t.Skip("head is not installed: ", err)
	}
	tr := manyFiles(t, 60)
	for range (tries() + 3) / 4 {
		for _, flags := range []string{"", "-v", "--format diff", "--events -"} {
			cmd := tr.command()
			cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `"$1" run swap.json ` + flags + ` 2>&1 | head -1`, "sh", program}
			if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 {
				t.Errorf("%v\n%s", err, out)
			}
			tr.whole()
			tr.clean()
			tr.reset()
		}
	}
}
