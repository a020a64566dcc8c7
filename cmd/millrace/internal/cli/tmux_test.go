package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
)

// screen is a real terminal that runs a program.
type screen struct {
	t      *testing.T
	socket string
}

// onScreen starts a program of the tests in a directory, in a terminal with that many columns.
func onScreen(t *testing.T, columns int, dir, command string, env ...string) *screen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux, the terminal, is not installed")
	}
	name, args, _ := strings.Cut(command, " ")
	program, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := os.MkdirTemp("", "mr") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t, filepath.Join(sockets, "s")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", s.socket, "kill-server").Run()
		_ = os.RemoveAll(sockets)
	})
	// The shell stays, so that no output of the program is lost with its terminal.
	command = fmt.Sprintf("env -u NO_COLOR -u PAGER -u LESS -u MILLRACE_PAGER -u CLICOLOR TERM=screen LC_ALL=C.UTF-8 HOME='%s' %s '%s' %s; echo \"exit status $?\"; sleep 600",
		dir, strings.Join(env, " "), program, args)
	s.tmux("-u", "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", "30", "-c", dir, "-s", "s", "sleep 600")
	s.tmux("set-option", "-t", "s", "status", "off")
	s.tmux("respawn-pane", "-k", "-t", "s", "-c", dir, command)
	return s
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// text returns the text on the screen, without colours.
func (s *screen) text() string { return s.tmux("capture-pane", "-p", "-J", "-t", "s") }

// colored returns the text on the screen, with the codes of colours as tmux writes them.
func (s *screen) colored() string { return s.tmux("capture-pane", "-e", "-p", "-t", "s") }

// wait waits until a text is on the screen. The text may be wrapped at words.
func (s *screen) wait(text string) {
	s.t.Helper()
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	s.until(fmt.Sprintf("%q is shown", text), func() bool { return strings.Contains(words(s.text()), words(text)) })
}

// ended waits until the program has ended, with an exit status.
func (s *screen) ended(status int) {
	s.t.Helper()
	s.wait(fmt.Sprintf("exit status %d", status))
}

func (s *screen) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("timeout: %s\n%s", what, s.text())
		}
	}
}

func (s *screen) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", "s"}, keys...)...)
}

// sample returns a tree with a pipeline in fix.json that changes each of the texts.
func sample(t *testing.T, texts ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range texts {
		write(fmt.Sprintf("f%d.txt", i), text)
	}
	write("fix.json", `{"name":"fix","steps":[{"id":"fix","action":"pattern_replace","params":{"file_pattern":"*.txt","sed_pattern":"s/recieve/receive/g"}}]}`)
	return dir
}

// Sentences are wrapped at words to the width of the terminal. A file has each line whole, including its paths.
func TestScreenWraps(t *testing.T) {
	t.Parallel()
	const long = "a-directory-with-a-long-name/and-a-file-with-a-longer-name.json"
	for _, columns := range []int{80, 40} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			dir := sample(t)
			for _, command := range []string{
				"millrace runs approve 12 --digest", "millrace help run", "millrace validate " + long, "millrace undo",
				"millrace replace recieve receive --in nothing", "millrace actions edit", "millrace search nothing",
			} {
				s := onScreen(t, columns, dir, command)
				s.wait("exit status")
				for line := range strings.SplitSeq(s.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "s"), "\n") {
					whole := strings.Contains(line, long) || strings.HasPrefix(strings.TrimSpace(line), "millrace ")
					if line = strings.TrimRight(line, " "); len([]rune(line)) > columns && !whole {
						t.Errorf("%s: %q is wider than %d columns", command, line, columns)
					}
				}
			}
		})
	}
	out, _ := exec.Command("millrace", "validate", long).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 1 || !strings.Contains(lines[0], long) {
		t.Errorf("without a terminal: %q", out)
	}
}

func contentOf(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A review on terminals of two widths: colours, keys, wide characters, a change of size, and the last question.
func TestScreenReview(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 40} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			dir := sample(t, "to recieve 界面文字 is\n", "they recieve\n", "we recieve\n")
			s := onScreen(t, columns, dir, "millrace run -p fix.json")
			s.wait("(1/1 f0.txt, by fix) take this hunk [y,n,a,d,t,s,e,b,p,q,?]")
			s.wait("+to receive 界面文字 is")
			if shown := s.colored(); !strings.Contains(shown, "\x1b[32m+to rec\x1b[7mei\x1b[") ||
				!strings.Contains(shown, "\x1b[36m") && !strings.Contains(shown, ";36m") {
				t.Errorf("colours: %q", shown)
			}
			s.keys("n")
			s.wait("(1/1 f1.txt, by fix)")
			s.tmux("resize-window", "-t", "s", "-x", "60", "-y", "20")
			s.keys("Up") // an arrow is not a key of a review, and has no effect
			s.wait("?  this help")
			s.keys("y")
			s.wait("(1/1 f2.txt, by fix)")
			s.keys("b")
			s.keys("i")
			s.wait("by step fix (pattern_replace), edit 1")
			s.keys("a", "d")
			s.wait("1 edit in 1 file, low risk.  Apply? [y]es [r]eview [s]ave plan [N]o")
			s.keys("y", "Enter")
			s.ended(0)
			s.wait("undo with: millrace undo")
			got := contentOf(t, dir, "f0.txt") + contentOf(t, dir, "f1.txt") + contentOf(t, dir, "f2.txt")
			if want := "to recieve 界面文字 is\nthey receive\nwe recieve\n"; got != want {
				t.Errorf("the tree has %q, want %q", got, want)
			}
		})
	}
}

// Control keys and the editor: ^C ends a review, and the terminal is restored after the editor.
func TestScreenEditAndInterrupt(t *testing.T) {
	t.Parallel()
	dir := sample(t, "to recieve\n", "they recieve\n")
	s := onScreen(t, 80, dir, "millrace run -p fix.json", "EDITOR='sed -i s/^+.*/+mine/'")
	s.wait("(1/1 f0.txt, by fix)")
	s.keys("e")
	s.wait("(1/1 f1.txt, by fix)")
	s.keys("C-c")
	s.ended(3)
	s.wait("nothing was changed")
	if got := contentOf(t, dir, "f0.txt"); got != "to recieve\n" {
		t.Errorf("the tree has %q", got)
	}
	s = onScreen(t, 80, dir, "millrace run -p fix.json", "EDITOR='sed -i s/^+.*/+mine/'")
	s.wait("(1/1 f0.txt, by fix)")
	s.keys("e", "q")
	s.wait("Apply?")
	s.keys("C-c") // here it is a signal
	s.ended(130)
	s.wait("stopping")
	if got := contentOf(t, dir, "f0.txt"); got != "to recieve\n" {
		t.Errorf("the tree has %q", got)
	}
}

// A diff longer than the screen is shown by less, until the user leaves it; a shorter diff is just printed.
func TestScreenPager(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("less, the pager, is not installed")
	}
	dir := sample(t, strings.Repeat("to recieve\n\x1b]0;title\x07\n", 2000), "short recieve\n")
	s := onScreen(t, 80, dir, "millrace plan fix.json")
	s.wait("@@ -1,")
	s.wait(`\x1b]0;title\a`)
	if shown := s.colored(); !strings.Contains(shown, "rec\x1b[7mei\x1b[") {
		t.Errorf("colours: %q", shown)
	}
	s.keys("C-c") // less continues, and so does the program that waits for it
	s.until("less goes on to the end", func() bool {
		s.keys("G") // an interrupt may have dropped the typed keys
		return strings.Contains(s.text(), "(END)")
	})
	s.keys("q")
	s.ended(0)
	s.wait("OK: 1/1 steps")
	s.wait("to receive") // the diff is still on the screen
	s = onScreen(t, 40, sample(t, "short recieve\n"), "millrace plan fix.json")
	s.ended(0)
	s.wait("+short receive")
	s.wait("OK: 1/1 steps")
	s = onScreen(t, 40, dir, "millrace plan --no-pager --color never fix.json")
	s.ended(0)
	s.wait("+short receive")
	if shown := s.colored(); strings.Contains(shown, "\x1b[32m") {
		t.Errorf("want no colours: %q", shown)
	}
}

// progressForTests shows a line of progress until a file exists.
func progressForTests() {
	p := millrace.Progress(os.Stderr)
	time.Sleep(350 * time.Millisecond)
	p.Observe(millrace.StepStarted{Step: "first", Action: "a text, which is longer"})
	time.Sleep(150 * time.Millisecond)
	p.Observe(millrace.StepStarted{Step: "界面", Action: strings.Repeat("words ", 30) + "end"})
	for _, err := os.Stat(os.Args[1]); err != nil; _, err = os.Stat(os.Args[1]) {
		time.Sleep(10 * time.Millisecond)
	}
	p.Done()
	fmt.Fprintln(os.Stderr, "after it")
}

// The line of progress fits on a narrow terminal, and is removed completely.
func TestScreenProgress(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 40} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			end := filepath.Join(t.TempDir(), "end")
			s := onScreen(t, columns, t.TempDir(), "progress-line "+end)
			s.wait("step 界面: words words")
			if shown := strings.TrimSpace(s.tmux("capture-pane", "-p", "-t", "s")); strings.Contains(shown, "\n") {
				t.Errorf("the progress is on several lines: %q", shown)
			}
			if err := os.WriteFile(end, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s.ended(0)
			if got := strings.TrimSpace(s.text()); got != "after it\nexit status 0" {
				t.Errorf("a part of the progress is left: %q", got)
			}
		})
	}
}
