package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo terminal. The output of the program is read from it.
type terminal struct {
	t        *testing.T
	host     *os.File // the side of the screen and the keyboard
	attached *os.File // the side of the program
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	host, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	if err := unix.IoctlSetPointerInt(int(host.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(host.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	attached, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &terminal{t: t, host: host, attached: attached}
}

// onTerminal types keys at a new terminal, runs the program there, and returns everything that the terminal shows.
func (tr *tree) onTerminal(keys string, env []string, args ...string) (status int, shown string) {
	tr.t.Helper()
	return tr.on(newTerminal(tr.t), keys, env, args...)
}

// on is like onTerminal, but at a given terminal, which it closes.
func (tr *tree) on(tty *terminal, keys string, env []string, args ...string) (status int, shown string) {
	tr.t.Helper()
	cmd := tr.command(args...)
	cmd.Env = append(cmd.Env, "TERM=xterm", "PAGER=cat")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty.attached, tty.attached, tty.attached
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if _, err := tty.host.WriteString(keys); err != nil {
		tr.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tr.t.Fatal(err)
	}
	tty.attached.Close()
	var screen bytes.Buffer
	// Reading returns EIO after the last program has closed the terminal.
	if _, err := io.Copy(&screen, tty.host); err != nil && !errors.Is(err, syscall.EIO) {
		tr.t.Error(err)
	}
	status = tr.status(cmd.Wait())
	tty.host.Close()
	return status, screen.String()
}

// attacks are texts that act on a user's screen: they set the title, clear the screen, make the terminal type an answer
// into the shell, make a link, reverse the direction of text, hide text, move the cursor or set colours.
var attacks = []string{
	"\x1b]0;owned\a", "\x1b[2J\x1b[H", "\x1b[6n", "\x1b]8;;http://evil\x1b\\", "\u202eevil\u2066", "\u200bhidden\u2060", "\u009b31m", "\b\b\b", "\r",
	"\x1b[31m", "\x1bPq\x1b\\", "\u2028", "\ufeff", "\U000e0041",
}

// own matches the sequences that the program itself writes: colours and the progress line.
var own = regexp.MustCompile(`\x1b\[[0-9;]*m|\r?\x1b\[\?7l|\x1b\[K|\x1b\[\?7h|\r\n|\r\x1b\[K`)

// dangerous returns the first character of an output that a terminal acts on or hides, "" if there are none.
func dangerous(shown string, colours bool) string {
	if colours {
		shown = own.ReplaceAllString(shown, "\n")
	} else {
		shown = strings.ReplaceAll(shown, "\r\n", "\n")
	}
	for i, r := range shown {
		if _, n := utf8.DecodeRuneInString(shown[i:]); r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("the byte %x in %q", shown[i], shown[max(0, i-60):min(len(shown), i+60)])
		}
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0,
			r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff,
			r >= 0xe0000 && r <= 0xe007f:
			return fmt.Sprintf("%q in %q", r, shown[max(0, i-60):min(len(shown), i+60)])
		}
	}
	return ""
}

// The program never prints control sequences from files, names, pipelines and errors unescaped.
func TestEscapeSequences(t *testing.T) {
	t.Parallel()
	all := strings.Join(attacks, "") + "\xff\x9b"
	name := strings.NewReplacer("/", "", "\r", "").Replace(strings.Join(attacks, "")) + ".txt"
	text := "before " + all + "\nMARK " + all + "\nafter " + all + "\n"
	quoted := func(s string) string {
		var b strings.Builder
		for _, r := range strings.ToValidUTF8(s, "?") {
			if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
				for _, u := range utf16Of(r) {
					fmt.Fprintf(&b, `\u%04x`, u)
				}
				continue
			}
			b.WriteRune(r)
		}
		return `"` + b.String() + `"`
	}
	edit := func(old string) string {
		return `{"name": ` + quoted("name "+all) + `, "steps": [{"id": "s", "action": "edit", "params": {"files": [` + quoted(name) + `],
			"old_text": ` + quoted(old) + `, "new_text": ` + quoted("KRAM "+all) + `}}]}`
	}
	fresh := func(t *testing.T) *tree {
		return newTree(t, map[string]string{
			name: text, "good.json": edit("MARK"), "fails.json": edit("nowhere " + all),
			"wrong.json":    `{"name": "x", "steps": [{"id": "s", "action": ` + quoted("edit"+all) + `, "params": {` + quoted("p"+all) + `: 1}}]}`,
			"no.json":       all,
			"no.yaml":       "name: x\nsteps: " + all + "\n",
			"missing.json":  `{"name": "x", "steps": [{"id": "s", "action": "delete", "params": {"files": [` + quoted("gone"+all) + `]}}]}`,
			"moves.json":    `{"name": "x", "steps": [{"id": "s", "action": "rename", "params": {"files": [` + quoted(name) + `], "to": ` + quoted("x"+name) + `}}]}`,
			"wrong.patch":   "--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-nothing " + all + "\n+x\n",
			"search.json":   `{"name": "x", "verbose": true, "steps": [{"id": "s", "action": "search", "params": {"pattern": "MARK", "context": 1}}]}`,
			"read.json":     `{"name": "x", "verbose": true, "steps": [{"id": "s", "action": "read_ranges", "params": {"path": ` + quoted(name) + `}}]}`,
			"stranger.plan": `{"version": ` + quoted(all) + `}`,
		})
	}
	for _, c := range []struct {
		keys string
		args []string
		prep func(tr *tree)
	}{
		{args: []string{"plan", "good.json"}},
		{args: []string{"plan", "good.json", "--format", "stat"}},
		{args: []string{"plan", "good.json", "-v"}},
		{args: []string{"plan", "moves.json"}},
		{keys: "n\n", args: []string{"run", "good.json"}},
		{args: []string{"run", "good.json", "-y"}},
		{args: []string{"run", "good.json", "-v", "-y"}},
		{args: []string{"run", "good.json", "--format", "report", "-y"}},
		{args: []string{"run", "good.json", "--format", "json", "-y"}},
		{args: []string{"run", "good.json", "--format", "jsonl", "-y"}},
		{args: []string{"plan", "good.json", "--format", "lsp"}},
		{args: []string{"run", "good.json", "--events", "-", "-y"}},
		{args: []string{"run", "fails.json"}},
		{args: []string{"run", "fails.json", "-v"}},
		{args: []string{"run", "wrong.json"}},
		{args: []string{"run", "no.json"}},
		{args: []string{"run", "no.yaml"}},
		{args: []string{"run", "missing.json"}},
		{args: []string{"run", "search.json"}},
		{args: []string{"run", "search.json", "-v"}},
		{args: []string{"run", "read.json", "-v"}},
		{args: []string{"run", all}},
		{args: []string{"validate", "good.json", "wrong.json", "no.json", "no.yaml"}},
		{args: []string{"fmt", "wrong.json"}},
		{args: []string{"fmt", "good.json"}},
		{args: []string{"convert", "good.json"}},
		{args: []string{"replace", "a" + all, "b", "--emit", "json"}},
		{args: []string{"replace", "a" + all, "b", "--emit", "yaml"}},
		{args: []string{"patch", "wrong.patch"}},
		{args: []string{"apply", "stranger.plan"}},
		{args: []string{"show", all}},
		{args: []string{"undo", all}},
		{args: []string{"recover", "--discard", all}},
		{args: []string{all}},
		{args: []string{"--" + all}},
		{args: []string{"run", "--format", all}},
		{args: []string{"actions", all}},
		{args: []string{"help", all}},
		{args: []string{"completion", all}},
		{args: []string{"-C", all, "status"}},
		{args: []string{"run", "good.json", "--deny", all + "["}},
		{args: []string{"run", "good.json", "--name", all, "-n"}},
		{args: []string{"do", all}},
		{args: []string{"do", "edit", all + "=1"}},
		{args: []string{"rm", all}},
		{args: []string{"rm", "*.txt", "-n"}},
		{args: []string{"mv", "*.txt", "d/", "-n"}},
		{args: []string{"sed", "s/MARK/" + all + "/", "*.txt", "-n"}},
		{args: []string{"replace", "nothing", "x" + all}},
		{keys: "n\n", args: []string{"replace", "MARK", "x" + all}},
		{keys: "y\n", args: []string{"replace", "MARK", "x" + all}},
		{keys: "?pinq", args: []string{"replace", "MARK", "x" + all, "-p"}},
		{keys: "yn\n", args: []string{"replace", "MARK", "x" + all, "-p"}},
		{args: []string{"log"}, prep: func(tr *tree) { tr.must("run", "good.json") }},
		{args: []string{"log", "--format", "json"}, prep: func(tr *tree) { tr.must("run", "good.json") }},
		{args: []string{"undo", "--last", "-n"}, prep: func(tr *tree) { tr.must("run", "good.json") }},
		{keys: "y\n", args: []string{"undo"}, prep: func(tr *tree) { tr.must("run", "good.json") }},
		{args: []string{"undo", "--last", "-y"}, prep: func(tr *tree) { tr.must("run", "good.json"); tr.write(name, all) }},
		{keys: "n\n", args: []string{"log", "prune", "--keep", "1"}, prep: func(tr *tree) { tr.must("run", "good.json") }},
		{args: []string{"status"}, prep: func(tr *tree) { tr.write(".millrace/tx/x"+name, "") }},
		{args: []string{"run", "good.json"}, prep: func(tr *tree) { tr.write(".millrace.yaml", quoted(all)+": x\n") }},
		{args: []string{"run", "good.json"}, prep: func(tr *tree) { tr.write(".millrace.yaml", "deny: ["+all+"\n") }},
		{args: []string{"run", "good.json"}, prep: func(tr *tree) { tr.write(".millrace.yaml", "allow: ["+quoted("../"+all)+"]\n") }},
	} {
		for _, env := range [][]string{{"NO_COLOR=1", "TERM=dumb"}, {"CLICOLOR_FORCE=1"}} {
			colours := len(env) == 1
			title := strings.Trim(fmt.Sprintf("%q", c.args), "[]")
			t.Run(strings.ReplaceAll(title[:min(len(title), 60)], "/", "_"), func(t *testing.T) {
				t.Parallel()
				tr := fresh(t)
				if c.prep != nil {
					c.prep(tr)
				}
				status, shown := tr.onTerminal(c.keys, env, c.args...)
				if status < 0 {
					t.Errorf("a signal ended the program:\n%q", shown)
				}
				// The terminal echoes the typed keys, so the keys are harmless.
				if what := dangerous(shown, colours); what != "" {
					t.Errorf("millrace %q (colours %v) shows %s", c.args, colours, what)
				}
				if shown == "" {
					t.Errorf("millrace %q shows nothing", c.args)
				}
			})
		}
	}
}

// utf16Of returns the UTF-16 code units of a rune, for the escapes of JSON.
func utf16Of(r rune) []rune {
	if r < 0x10000 {
		return []rune{r}
	}
	r -= 0x10000
	return []rune{0xd800 + r>>10, 0xdc00 + r&0x3ff}
}

// TestDangerous checks that dangerous finds the attacks, and accepts harmless output.
func TestDangerous(t *testing.T) {
	t.Parallel()
	for _, attack := range attacks {
		if attack == "\x1b[31m" {
			continue // own matches this sequence
		}
		if dangerous("text "+attack+" text", true) == "" || dangerous("text "+attack+" text", false) == "" {
			t.Errorf("%q is not dangerous", attack)
		}
	}
	for _, fine := range []string{"a\r\nb\tc\n", "\x1b[1mbold\x1b[0m\r\n", "\r\x1b[?7lstep\x1b[K\x1b[?7h", "ä€😀"} {
		if what := dangerous(fine, true); what != "" {
			t.Errorf("%q: %s", fine, what)
		}
	}
}
