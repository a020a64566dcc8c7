package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What may be different between two lists is what the tools say of files with a NUL, and nothing else.
func TestSameLists(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	write(t, "plain", tree, "a:b")
	write(t, "plain", tree, "plain")
	write(t, "\x00", tree, "early")
	write(t, strings.Repeat("x", 8<<10-1)+"\x00", tree, "last")
	write(t, strings.Repeat("x", 8<<10)+"\x00", tree, "late")
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

// The memory of a child is its own, however much this process has. That is not so without a process between them.
func TestMeasureMemory(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	if b.tools["sh"].missing != "" {
		t.Skip(b.tools["sh"].missing)
	}
	ballast := make([]byte, 300<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	u, err := b.run(t.Context(), command{dir: b.dir, out: b.out("x"), args: []string{b.tools["sh"].path, "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; pwd"}})
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(ballast)
	if u.RSS == 0 || u.RSS > 150<<20 || u.CPU <= 0 || u.Wall <= 0 {
		t.Errorf("%+v", u)
	}
	said, err := os.ReadFile(b.out("x"))
	if real, err := filepath.EvalSymlinks(b.dir); err != nil || strings.TrimSpace(string(said)) != real {
		t.Errorf("it ran in %q, %v", said, err)
	}
	if err != nil {
		t.Error(err)
	}
}

// A command that fails is an error, one that finds nothing is none.
func TestMeasureExit(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	sh := b.tools["sh"]
	if sh.missing != "" {
		t.Skip(sh.missing)
	}
	for script, fails := range map[string]bool{"exit 0": false, "exit 1": false, "exit 2": true, "echo oh >&2; exit 1": true} {
		_, err := b.run(t.Context(), command{dir: b.dir, out: b.out(script[:6]), args: []string{sh.path, "-c", script}})
		if (err != nil) != fails {
			t.Errorf("%s: %v", script, err)
		}
	}
	if _, err := b.run(t.Context(), command{dir: b.dir, out: b.out("y"), args: []string{filepath.Join(b.dir, "no-such-program")}}); err == nil {
		t.Error("a program that is not there ran")
	}
}
