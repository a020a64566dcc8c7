package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/campaign"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/fsutil"
)

// terminal is a program at a terminal, with a user who does something and then answers yes to each question.
type terminal struct {
	state  string
	before func()
	out    strings.Builder
}

var errSaid = errors.New("said")

func (term *terminal) program(t *testing.T) door.Program {
	none := func(*cobra.Command) {}
	write := func(text string) error {
		_, err := term.out.WriteString(text + "\n")
		return err
	}
	x := millrace.Executor{State: millrace.State{Key: []byte(strings.Repeat("k", 32)), NoSync: true}}
	return door.Program{
		Open: func() (door.Tree, error) {
			fs, err := fsutil.OpenRoot(term.state)
			return door.Tree{FS: fs, Executor: x,
				Pipeline: func(context.Context, string, []string) (millrace.Pipeline, string, error) {
					p, err := millrace.Decoder{}.Decode([]byte(`{"name": "p", "steps": [
						{"id": "bad", "action": "search", "params": {"pattern": "bad", "include": ["*.txt"]},
							"expect": {"max_files": 0}},
						{"id": "s", "action": "pattern_replace",
							"params": {"file_pattern": "*.txt", "sed_pattern": "s/one/two/g"}}]}`))
					return p, "p.json", err
				},
				Allow: func(context.Context, millrace.Pipeline, string) (millrace.Executor, func(), error) {
					return x, func() {}, nil
				},
				Limit: func(*millrace.Executor, afero.Fs, string) error { return nil },
			}, err
		},
		FormatFlag: func(*cobra.Command, ...string) {}, Format: func() string { return "" },
		Write: write, WriteShown: write, WriteReport: write, WriteLive: func(string) {},
		Usage: func(err error) error { return err },
		Said:  func(word string) error { return fmt.Errorf("%w: %s", errSaid, word) },
		Talk:  func(format string, args ...any) { t.Logf(format, args...) },
		Ask: func(context.Context, string) (string, error) {
			term.before()
			return "y", nil
		},
		OnTerminal: func() bool { return true }, Live: func() bool { return false },
		ProgramFlags: none, ProjectFlag: none, YesFlag: none, Yes: func() bool { return false },
		User: func() string { return "" }, StateDir: func() string { return term.state },
		Base: func(name string) string { return name }, Budget: func() string { return "" },
	}
}

// fleet runs `fleet ARG…`, and returns what it has written.
func (term *terminal) fleet(t *testing.T, args ...string) string {
	t.Helper()
	term.out.Reset()
	cmd := campaign.NewFleet(term.program(t))
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); err != nil && !errors.Is(err, errSaid) {
		t.Fatal(err)
	}
	return term.out.String()
}

// Only the plans that were shown are committed after a yes. A tree that has another plan by then is left alone, its
// diff is the new plan, and retry goes on with it.
func TestRun_planChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name, "a.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"run", "p", "--name", "x"}
	before := map[string]string{"same": "one\n", "edited": "one\n", "grown": "none\n", "failed": "one bad\n",
		"blocked": "one bad\n", "gone": "one\n"}
	for name, text := range before {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(name, text)
		args = append(args, filepath.Join(dir, name))
	}
	term := terminal{state: t.TempDir(), before: func() {
		for name, text := range map[string]string{"edited": "one one\n", "grown": "one\n", "failed": "one\n",
			"gone": "other\n"} {
			write(name, text)
		}
	}}
	out := term.fleet(t, args...)
	check := func(want map[string]string) {
		t.Helper()
		for name, text := range want {
			if got, err := os.ReadFile(filepath.Join(dir, name, "a.txt")); err != nil || string(got) != text {
				t.Errorf("%s is %q, not %q, %v", name, got, text, err)
			}
		}
	}
	check(map[string]string{"same": "two\n", "edited": "one one\n", "grown": "one\n", "failed": "one\n",
		"blocked": "one bad\n", "gone": "other\n"})
	for _, name := range []string{"edited", "grown", "failed"} {
		want := "failed        " + filepath.Join(dir, name) + "  the plan is not the approved plan: " +
			"millrace fleet diff x shows it, millrace fleet retry x goes on\n"
		if !strings.Contains(out, want) {
			t.Errorf("the output has no line %q:\n%s", want, out)
		}
	}
	if got := term.fleet(t, "diff", "x", filepath.Join(dir, "edited")); !strings.Contains(got, "\n-one one\n+two two\n") {
		t.Errorf("the diff is\n%s", got)
	}
	if got := term.fleet(t, "diff", "x", filepath.Join(dir, "gone")); got != "" {
		t.Errorf("the diff of a tree that did not change is\n%s", got)
	}
	term.fleet(t, "retry", "x")
	check(map[string]string{"same": "two\n", "edited": "two two\n", "grown": "two\n", "failed": "two\n",
		"blocked": "one bad\n", "gone": "other\n"})
}
