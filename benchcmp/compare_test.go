package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Two lists may differ only in files with a NUL, as the tools treat these.
func TestSameLists(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	write(t, "plain", tree, "a:b")
	write(t, "plain", tree, "plain")
	write(t, "\x00", tree, "early")
	write(t, strings.Repeat("x", 8000-1)+"\x00", tree, "last")
	write(t, strings.Repeat("x", 8000)+"\x00", tree, "late")
	tests := []struct {
		name         string
		ours, theirs string
		counts       bool
		rule         binaryRule
		want         string // "" for a wrong result
	}{
		{"equal", "plain\na:b\n", "./a:b\n./plain\n", false, asText, "2 files"},
		{"none", "", "", false, asText, "0 files"},
		{"file less", "", "plain\n", false, asText, ""},
		{"file more", "plain\n", "", false, asText, ""},
		{"counts", "a:b:2\n", "./a:b:2\n", true, asText, "1 files"},
		{"other count", "a:b:2\n", "./a:b:3\n", true, asText, ""},
		{"binary as text", "", "./early\n./last\n", false, asText, "0 files (and 2 with a NUL)"},
		{"binary counted as text", "plain:1\n", "./early:7\nplain:1\n", true, asText, "1 files (and 1 with a NUL)"},
		{"late NUL as text", "", "late\n", false, asText, ""},
		{"late NUL of ours", "late\n", "", false, asText, ""},
		{"binary of ours", "early\n", "", false, asText, ""},
		{"given up", "late\n", "", false, stopsAtNUL, "0 files (and 1 with a NUL)"},
		{"given up without NUL", "plain\n", "", false, stopsAtNUL, ""},
		{"given up early", "early\n", "", false, stopsAtNUL, ""},
		{"found before a NUL", "", "last\n", false, stopsAtNUL, "0 files (and 1 with a NUL)"},
		{"no such file", "", "nothing\n", false, asText, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, tt.ours, dir, "ours")
			write(t, tt.theirs, dir, "theirs")
			got, err := sameLists(tree, filepath.Join(dir, "ours"), filepath.Join(dir, "theirs"), tt.counts, tt.rule)
			if _, isWrong := errors.AsType[*wrongResult](err); isWrong != (tt.want == "") || got != tt.want {
				t.Errorf("got %q, %v", got, err)
			}
			_, err = equalLists(filepath.Join(dir, "ours"), filepath.Join(dir, "theirs"))
			if equal := strings.HasSuffix(tt.want, "files"); equal != (err == nil) {
				t.Errorf("not allowing for anything: %v", err)
			}
		})
	}
}

// Any text can stand for itself in the commands of the shell and of sed.
func TestSubstitute(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sh", "sed"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name, " is not installed")
		}
	}
	for _, from := range []string{"a.b", `a\b`, "a/b", "a*", "[a]", "^a", "a$", "a'b", "a()", "a b", "a|b+"} {
		to := from + `&\/'$`
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s\n' "+quote("-"+from+"-axb-")+" | sed "+quote(substitute(from, to))).CombinedOutput()
		if want := "-" + to + "-axb-\n"; err != nil || string(out) != want {
			t.Errorf("%q: %q, want %q, %v", from, out, want, err)
		}
	}
}
