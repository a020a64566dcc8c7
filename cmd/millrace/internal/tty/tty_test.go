package tty

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// The settings that decide on colours, the strongest first.
func TestColor(t *testing.T) {
	for _, test := range []struct {
		choice, env    string
		terminal, want bool
	}{
		{"", "", true, noTerm},
		{"", "TERM=", true, noTerm},
		{"", "", false, false},
		{Auto, "TERM=xterm", true, true},
		{Always, "NO_COLOR=1 TERM=dumb", false, true},
		{Never, "CLICOLOR_FORCE=1 FORCE_COLOR=1", true, false},
		{"", "NO_COLOR=1", true, false},
		{"", "NO_COLOR=0", true, false},
		{"", "NO_COLOR= TERM=xterm", true, true},
		{"", "NO_COLOR=1 CLICOLOR_FORCE=1", true, false},
		{"", "CLICOLOR_FORCE=1", false, true},
		{"", "CLICOLOR_FORCE=0", false, false},
		{"", "CLICOLOR_FORCE=", false, false},
		{"", "FORCE_COLOR=1", false, true},
		{"", "FORCE_COLOR=0 TERM=xterm", true, true},
		{"", "FORCE_COLOR=3 TERM=dumb", false, true},
		{"", "CLICOLOR_FORCE=1 CLICOLOR=0", false, true},
		{"", "CLICOLOR=0", true, false},
		{"", "CLICOLOR=1 TERM=xterm", true, true},
		{"", "CLICOLOR=1", false, false},
		{"", "TERM=dumb", true, false},
	} {
		env := make(map[string]string)
		for _, v := range strings.Fields(test.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		if got := Color(test.choice, func(name string) string { return env[name] }, test.terminal); got != test.want {
			t.Errorf("--color %q, %s, terminal %t: %t", test.choice, test.env, test.terminal, got)
		}
	}
}

func TestPager(t *testing.T) {
	for _, test := range []struct {
		env        map[string]string
		configured *string
		want       string
	}{
		{nil, nil, "less -FRX"},
		{map[string]string{"PAGER": "more"}, nil, "more"},
		{map[string]string{"PAGER": ""}, nil, ""},
		{map[string]string{"PAGER": " cat "}, nil, ""},
		{map[string]string{"PAGER": "more"}, new("delta"), "delta"},
		{map[string]string{"PAGER": "more"}, new(""), ""},
		{map[string]string{"PAGER": "more", "MILLRACE_PAGER": "most"}, new("delta"), "most"},
		{map[string]string{"PAGER": "more", "MILLRACE_PAGER": ""}, new("delta"), ""},
	} {
		lookup := func(name string) (string, bool) { v, ok := test.env[name]; return v, ok }
		if got := Pager(lookup, test.configured); got != test.want {
			t.Errorf("%v: %q, want %q", test, got, test.want)
		}
	}
}

func TestPage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands of this test are those of Unix")
	}
	long := strings.Repeat("a line\n", 20_000) // more than a pipe can hold
	for command, want := range map[string]string{
		"tr a b": strings.ReplaceAll(long, "a", "b"), "head -n 1": "a line\n", "no-such-pager-here -x": long, "false": long, "exit 3": long, "FOO=1 tr a c | tr c d": strings.ReplaceAll(long, "a", "d"),
	} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		err = Page(command, out, func(w io.Writer) error {
			for line := range strings.Lines(long) {
				if _, err := io.WriteString(w, line); err != nil {
					return err
				}
			}
			return nil
		})
		got, _ := os.ReadFile(out.Name())
		if err != nil || string(got) != want {
			t.Errorf("%s: %v, %d bytes, want %d", command, err, len(got), len(want))
		}
	}
	failed := errors.New("it failed")
	if err := Page("cat", os.Stdout, func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("an error of the text: %v", err)
	}
}

// closedPipe recognizes a write after the reader has left, on every platform.
func TestClosedPipe(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	_ = in.Close()
	if _, err := out.WriteString("x"); err == nil || !closedPipe(err) {
		t.Errorf("a pipe without a reader: %v", err)
	}
	if _, err := os.Open(t.TempDir() + "/none"); closedPipe(err) {
		t.Errorf("no pipe: %v", err)
	}
}

func TestEdit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands of this test are those of Unix")
	}
	got, err := Edit(`sed -i -e "s/old text/new/"`, None, "the old text\n")
	if err != nil || got != "the new\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Edit("no-such-editor-here", None, ""); !errors.Is(err, ErrNoEditor) {
		t.Errorf("an editor that does not exist: %v", err)
	}
	if _, err := Edit("false", None, ""); err == nil {
		t.Error("an editor that failed is not an error")
	}
	env := map[string]string{"EDITOR": "e", "VISUAL": "v"}
	if got := Editor(func(name string) string { return env[name] }, ""); got != "v" {
		t.Errorf("editor %q", got)
	}
}

// Arrow keys, pasted text and characters of several bytes are separate keys.
func TestFirstKey(t *testing.T) {
	typed := []byte("y\x1b[A\x1b[1;5Cü\x1bOP\x1bx\x03\x1b")
	var keys []rune
	for len(typed) > 0 {
		key, n := firstKey(typed)
		if n == 0 {
			t.Fatalf("no key in %q", typed)
		}
		keys, typed = append(keys, key), typed[n:]
	}
	if want := "y\uFFFD\uFFFDü\uFFFD\uFFFD\x03\uFFFD"; string(keys) != want {
		t.Errorf("%q, want %q", string(keys), want)
	}
	if _, n := firstKey([]byte("ü")[:1]); n != 0 {
		t.Errorf("half a character is a key of %d bytes", n)
	}
}

// Keys and lines come from the same input, in order. Waiting for them ends with the context.
func TestDeviceOfLines(t *testing.T) {
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	d := &Device{in: in, out: out}
	_, _ = typed.WriteString("y\nno\nyes\r")
	if key, err := d.Key(t.Context()); key != 'y' || err != nil {
		t.Errorf("%q, %v", key, err)
	}
	if key, err := d.Key(t.Context()); key != utf8.RuneError || err != nil {
		t.Errorf("%q, %v", key, err)
	}
	if answer, err := d.Ask(t.Context(), "Sure? "); answer != "yes" || err != nil {
		t.Errorf("%q, %v", answer, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := d.Ask(ctx, "Still? "); !errors.Is(err, stop) {
		t.Errorf("a context that is done: %v", err)
	}
	_, _ = typed.WriteString("late\n")
	_ = typed.Close()
	if answer, err := d.Ask(t.Context(), "And? "); answer != "late" || err != nil {
		t.Errorf("%q, %v", answer, err)
	}
	if _, err := d.Ask(t.Context(), "More? "); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	shown, _ := os.ReadFile(out.Name())
	if want := "Sure? yes\nStill? And? More? "; string(shown) != want {
		t.Errorf("shown %q, want %q", shown, want)
	}
}

func TestNone(t *testing.T) {
	if _, err := None.Ask(t.Context(), ""); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := None.Key(t.Context()); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if IsTerminal(&strings.Builder{}) {
		t.Error("a text counts as a terminal")
	}
}
