package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// At a terminal undo and redo show the change and ask.
func TestUndo_asks(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{"a.txt": "one\n"})
	text := func() string {
		data, err := os.ReadFile(filepath.Join(tr.dir, "a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	step := func(keys string, status int, want string, shows []string, args ...string) {
		t.Helper()
		got, shown := tr.onTerminal(keys, []string{"NO_COLOR=1"}, args...)
		if got != status || text() != want {
			t.Errorf("millrace %q, %q typed: exit status %d, the text is %q\n%s", args, keys, got, text(), shown)
		}
		for _, s := range shows {
			if !strings.Contains(shown, s) {
				t.Errorf("millrace %q, %q typed, does not show %q:\n%s", args, keys, s, shown)
			}
		}
	}
	step("", 2, "one\n", []string{"nothing to undo"}, "undo")
	step("y\n", 0, "two\n", []string{"+two", "Apply?", "undo with: millrace undo"}, "replace", "one", "two")
	step("n\n", 3, "two\n", []string{"-two", "+one", "1 file"}, "undo")
	step("\x04", 3, "two\n", nil, "undo")
	step("y\n", 0, "one\n", []string{"-two", "+one"}, "undo")
	step("n\n", 3, "one\n", []string{"+two"}, "redo")
	step("y\n", 0, "two\n", []string{"+two"}, "redo")
	// A change below the risk level in confirm is made without a question.
	config := filepath.Join(tr.home, ".config", "millrace")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "config.yaml"), []byte("confirm: medium\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	step("", 0, "six\n", []string{"+six"}, "replace", "two", "six")
	if err := os.WriteFile(filepath.Join(config, "config.yaml"), []byte("confirm: low\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	step("n\n", 3, "six\n", nil, "replace", "six", "ten")
	step("n\n", 3, "six\n", []string{"Remove", "cannot be taken back"}, "log", "prune", "--keep", "1")
}

// A transaction that this user did not write is left alone until the user discards it.
func TestRecover_decides(t *testing.T) {
	t.Parallel()
	tr := newTree(t, nil)
	const id = "20250213_120530_abc123def4567890"
	plant := func() { tr.write(".millrace/tx/"+id+"/plan", "{}") }
	plant()
	if status, out, _ := tr.run("status"); status != 6 || !strings.Contains(out, id) {
		t.Errorf("status: %d\n%s", status, out)
	}
	status, out, talk := tr.run("recover")
	t.Logf("recover: %d\n%s%s", status, out, talk)
	if status != 0 && status != 6 {
		t.Errorf("recover: exit status %d", status)
	}
	plant()
	if status, _, talk := tr.run("recover", "--discard", id); status != 0 || !strings.Contains(talk, "nothing was written") {
		t.Errorf("without a terminal: exit status %d\n%s", status, talk)
	}
	if status, _ := tr.onTerminal("n\n", nil, "recover", "--discard", id); status != 3 {
		t.Errorf("declined: exit status %d", status)
	}
	if _, err := os.Stat(filepath.Join(tr.dir, ".millrace/tx", id)); err != nil {
		t.Error("the transaction was removed without a yes:", err)
	}
	if status, _, talk := tr.run("recover", "--discard", id, "-y"); status != 0 ||
		!strings.Contains(talk, "removed "+id) || strings.Contains(talk, "whole") {
		t.Errorf("discarded: exit status %d\n%s", status, talk)
	}
	tr.clean()
}
