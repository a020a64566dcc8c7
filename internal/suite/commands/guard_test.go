package commands_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
)

// Paths that the host hides from steps are hidden from commands: commands do not see them, and a file that a command
// puts there fails the step.
func TestGuard(t *testing.T) {
	t.Parallel()
	x := host(t)
	x.DeniedPaths, x.ReadOnlyPaths, x.PortableNames = []string{".env"}, []string{"locked/**"}, true
	_, fsys := suite.Rooted(t, "a.txt", "one\n", ".env", "KEY=1\n", "locked/f", "f\n")
	res := run(t, x, fsys, suite.One(script("find . -type f | sort; cat locked/f")))
	if got := res.Results[0].Output; got != "./a.txt\n./locked/f\nf\n" {
		t.Errorf("it has seen %q", got)
	}
	for what, want := range map[string]error{
		"echo x > .env": fsutil.ErrDenied, "mkdir d; echo x > d/.env": fsutil.ErrDenied, "echo x > locked/f": fsutil.ErrReadOnlyPath,
		"rm locked/f": fsutil.ErrReadOnlyPath, "mv locked/f .": fsutil.ErrReadOnlyPath, "echo x > con.txt": fsutil.ErrNotPortable,
	} {
		res, err := x.Run(t.Context(), fsys, suite.One(script("echo x > a.txt; "+what)))
		if !errors.Is(err, want) || res.Results[0].Attempts > 1 {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	wantText(t, fsys, "a.txt", "one\n")
	wantText(t, fsys, ".env", "KEY=1\n")
	// A forbidden write outside of the step's Writes does not block the allowed writes.
	run(t, x, fsys, suite.One(actions.Exec{Shell: "echo x > .env; echo two > a.txt", Writes: []string{"*.txt"}}))
	wantText(t, fsys, "a.txt", "two\n")
}

// A link that leads out of the tree is hidden from commands, and stays. A link of that kind that a command makes fails
// its step.
func TestLinksOut(t *testing.T) {
	t.Parallel()
	x := host(t)
	dir, fsys := suite.Rooted(t, "a.txt", "one\n")
	suite.Link(t, t.TempDir(), filepath.Join(dir, "out"))
	res := run(t, x, fsys, suite.One(script("ls")))
	if res.Results[0].Output != "a.txt\n" {
		t.Errorf("it has seen %q", res.Results[0].Output)
	}
	if _, err := os.Readlink(filepath.Join(dir, "out")); err != nil {
		t.Error(err)
	}
	_, err := x.Run(t.Context(), fsys, suite.One(script("echo two > a.txt; ln -s /etc/passwd p")))
	if err == nil || !strings.Contains(err.Error(), "p") {
		t.Errorf("%v", err)
	}
	wantText(t, fsys, "a.txt", "one\n")

	// The same holds for a link that leads out through a path that is hidden from the command, or through a directory
	// that the command has put in its place.
	_, err = x.Run(t.Context(), fsys, suite.One(actions.Exec{Shell: "ln -s out/x p", Exclude: []string{"out"}}))
	if err == nil || !strings.Contains(err.Error(), "symbolic link p") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("out\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = x.Run(t.Context(), fsys, suite.One(script("mkdir out; ln -s out/x p")))
	if err == nil || !strings.Contains(err.Error(), "symbolic link p") {
		t.Errorf("%v", err)
	}
}

// The limits, the risk and the budget of a run also apply to the changes of commands.
func TestJudged(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.MaxFiles = 2
	many := suite.One(script("for i in 1 2 3; do echo $i > f$i; done"))
	if _, err := x.Run(t.Context(), fsys, many); !suite.Is[*millrace.BlockedError](err) {
		t.Errorf("%v", err)
	}
	x.MaxFiles, x.Budget = 0, budget.Limit{Files: 2}
	if _, err := x.Run(t.Context(), fsys, many); !suite.Is[*millrace.BudgetError](err) {
		t.Errorf("%v", err)
	}
	x.Budget = budget.Limit{}
	one := 1
	expecting := millrace.New("p").Step("s", script("for i in 1 2 3; do echo $i > f$i; done")).Expect(millrace.Expect{MaxFiles: &one}).MustBuild()
	if _, err := x.Run(t.Context(), fsys, expecting); !suite.Is[*millrace.ExpectError](err) {
		t.Errorf("%v", err)
	}
	if names, _ := afero.ReadDir(fsys, "."); len(names) != 2 {
		t.Errorf("the tree has %d names", len(names))
	}
}

// A failed command is retried only if the step allows it, each time on the original tree.
func TestRetries(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	const twice = `cat a.txt; echo mess >> a.txt; if ! test -e $MILLRACE_SHARED/x; then touch $MILLRACE_SHARED/x; exit 1; fi`
	res, err := x.Run(t.Context(), fsys, suite.One(script(twice)))
	if asCommandError(err) == nil || res.Results[0].Attempts > 1 {
		t.Errorf("%v, %+v", err, res)
	}
	p := millrace.New("p").Step("s", script(twice)).MaxRetries(1).Backoff(time.Millisecond).MustBuild()
	res = run(t, x, fsys, p)
	if got := res.Results[0]; got.Attempts != 2 || got.Output != "one\n" {
		t.Errorf("%+v", got)
	}
	wantText(t, fsys, "a.txt", "one\nmess\n")
}

// The deadline of the run ends a command.
func TestDeadline(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	p := millrace.New("p").Deadline(500*time.Millisecond).Step("s", script("echo x > a.txt; sleep 1000")).MaxRetries(3).MustBuild()
	res, err := x.Run(t.Context(), fsys, p)
	if !suite.Is[*millrace.DeadlineError](err) || *res.DeadlineMet {
		t.Errorf("%v, %+v", err, res)
	}
	wantText(t, fsys, "a.txt", "one\n")
	empty(t, x)
}

// Several runs on one tree have separate copies of the tree.
func TestAtTheSameTime(t *testing.T) {
	t.Parallel()
	x := host(t)
	_, fsys := suite.Rooted(t, "a.txt", "one\n")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p := suite.One(script("cat a.txt; echo mine > a.txt; sleep 0.2; cat a.txt; pwd"))
			plan, err := x.Plan(t.Context(), fsys, p)
			if err != nil {
				t.Error(err)
				return
			}
			if got := plan.Result().Results[0].Output; !strings.HasPrefix(got, "one\nmine\n/") {
				t.Errorf("%q", got)
			}
		})
	}
	wg.Wait()
	empty(t, x)
}

// A condition keeps a command from running. A loop runs a command again and again, each time on its earlier work.
func TestLoop(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), suite.Tree("n", "")
	p := millrace.New("p").
		Step("add", script("echo x >> n")).
		Step("enough", actions.Exec{Shell: "test $(wc -l < n) -ge 3", Discard: true}).RetryWhen("add", condition.StepFailed("enough")).
		Step("never", script("echo never > n")).When(condition.FileExists("none")).
		MustBuild()
	res := run(t, x, fsys, p)
	wantText(t, fsys, "n", "x\nx\nx\n")
	if res.Results[0].Visits != 3 || !res.Results[2].Skipped {
		t.Errorf("%+v", res.Results)
	}
}

// The events of a visit come in order: printed output is reported within the visit.
func TestOrderOfEvents(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	var kinds []string
	x.Observe = func(e millrace.Event) { kinds = append(kinds, e.Kind()) }
	run(t, x, fsys, suite.One(actions.Exec{Shell: "echo x", Discard: true}))
	if diff := cmp.Diff([]string{"run_started", "step_started", "step_output", "step_finished", "risk_judged", "run_finished"}, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Some parameters of a step must be known when it is decoded: discard cannot be a template.
func TestDecoded(t *testing.T) {
	t.Parallel()
	const text = `{"name": "p", "steps": [{"id": "a", "action": "list"},
		{"id": "x", "action": "exec", "params": {"command": "true", "discard": "{{a.ok}}", "max_output": "{{a.files_count}}", "stdin": "{{a.files}}", "ok_codes": ["{{a.count}}"]}}]}`
	_, err := millrace.Decode([]byte(text))
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Pointer != "/steps/1/params/discard" {
		t.Errorf("%v", err)
	}
	p, err := millrace.Decode([]byte(strings.Replace(text, `"discard": "{{a.ok}}", `, "", 1)))
	if err != nil || !p.Mutates() {
		t.Errorf("%v", err)
	}
}

// An invalid value of a template fails the step before a command runs.
func TestValuesOfTemplates(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	step := func(bind, value string, a actions.Exec) millrace.Pipeline {
		b := millrace.New("p").Step("one", actions.Exec{Command: "printf", Args: []string{"%s", value}}).Step("x", a)
		if bind != "" {
			b = b.Bind(bind, "{{one.output}}")
		}
		return b.MustBuild()
	}
	for name, p := range map[string]millrace.Pipeline{
		"a command of nothing": step("", "", actions.Exec{Command: "{{one.output}}"}),
		"a directory outside":  step("", "../..", actions.Exec{Command: "true", Dir: "{{one.output}}"}),
		"a glob":               step("", "[", actions.Exec{Command: "true", Needs: []string{"{{one.output}}"}}),
		"a status":             step("/ok_codes/0", "256", actions.Exec{Command: "true", OKCodes: []int{0}}),
		"no output":            step("/max_output", "-1", actions.Exec{Command: "true"}),
	} {
		res, err := x.Run(t.Context(), fsys, p)
		if !suite.Is[*millrace.InterpolationError](err) || res.Results[1].Data != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The value of a template is one word, and not an option of a shell.
	res := run(t, x, fsys, step("", `a; rm -rf . "$(id)" *`, actions.Exec{Command: "printf", Args: []string{"<%s>", "{{one.output}}"}}))
	if got := res.Results[1].Output; got != `<a; rm -rf . "$(id)" *>` {
		t.Errorf("%q", got)
	}
}

// An action that is called without an executor has neither commands nor workspaces.
func TestAlone(t *testing.T) {
	t.Parallel()
	c := &actions.Call{FS: fsutil.NewStage(memory())}
	if _, err := (actions.Exec{Command: "true"}).Run(t.Context(), c); err == nil {
		t.Error("it has run")
	}
	dir := t.TempDir()
	c.OpenWorkspace = func(context.Context, actions.WorkspaceOptions) (*actions.Workspace, error) {
		return &actions.Workspace{Root: dir}, nil
	}
	if _, err := (actions.Exec{Command: "true"}).Run(t.Context(), c); err == nil {
		t.Error("it has run without a shared directory")
	}
}

// Problems that do not depend on a command are found before a command runs.
func TestPathsIntoData(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{{x.exit_code}} {{x.changed[0]}} {{x.data.sandbox.files}} {{x.output}} {{x.files}} {{x.error}} {{x}} {{j.json.a[1].b}} {{j.data.json}}": "",
		"{{x.exitcode}}":          "did you mean 'exit_code'?",
		"{{x.data.std_out}}":      "did you mean 'stdout'?",
		"{{x.nothing}}":           "it has changed, deleted, exit_code",
		"{{x.data[0]}}":           "it has changed, deleted, exit_code",
		"{{x.json.a}}":            "set its format to json",
		"{{x.data.json}}":         "set its format to json",
		"{{x.exit_code.value}}":   "",
		"{{x.data.stdout[0]}}":    "",
		"{{x.stdout.line.first}}": "",
	} {
		_, err := millrace.New("p").Step("x", actions.Exec{Command: "true"}).Step("j", actions.Exec{Command: "true", Format: "json"}).
			Step("c", actions.Create{Path: "c", Content: text}).Build()
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if good := strings.Contains(text, "}} {{"); good != !ok || ok && (len(invalid.Problems) != 1 || invalid.Problems[0].Hint[:min(len(want), len(invalid.Problems[0].Hint))] != want ||
			invalid.Problems[0].Code != "invalid_template" || invalid.Problems[0].Pointer != "/steps/2/params/content") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A command does not reach the real tree.
func TestConfined(t *testing.T) {
	t.Parallel()
	x := host(t)
	dir, fsys := suite.Rooted(t, "a.txt", "one\n")
	res := run(t, x, fsys, suite.One(script("true")))
	if sandbox, _ := exit(t, res, 0)["sandbox"].(map[string]any); sandbox["files"] == nil {
		t.Skip("this system has no sandbox for files")
	}
	const tries = `cat "$0"; echo x > "$0"; rm -f "$0"; echo x > ../beside; true`
	step := actions.Exec{Command: "sh", Args: []string{"-c", tries, filepath.Join(dir, "a.txt")}}
	res = run(t, x, fsys, suite.One(step))
	if out, _ := exit(t, res, 0)["stdout"].(string); strings.Contains(out, "one") {
		t.Errorf("it has got %q", out)
	}
	wantText(t, fsys, "a.txt", "one\n")
}

// A process that a command has started does not outlive the command.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	tool(t, "setsid")
	x, fsys := host(t), memory()
	p := millrace.New("p").
		Step("leaves", script(`setsid sh -c 'sleep 0.5; echo late > a.txt' > /dev/null 2>&1 & echo begun`)).
		Step("waits", script(`sleep 1; cat a.txt`)).
		MustBuild()
	res := run(t, x, fsys, p)
	if got := res.Results[1].Output; got != "one\n" {
		t.Errorf("it has seen %q", got)
	}
	wantText(t, fsys, "a.txt", "one\n")
}

// A run that does not need a tree for commands makes none. A canceled run reports that it was canceled, whatever the
// host allows.
func TestNothingIsMade(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.Commands.Scratch = filepath.Join(t.TempDir(), "scratch")
	p := millrace.New("p").Step("list", actions.List{}).Step("never", script("true")).When(condition.FileExists("none")).MustBuild()
	run(t, x, fsys, p)
	if _, err := os.Stat(x.Commands.Scratch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Run(ctx, fsys, suite.One(script("true"))); millrace.ErrorCode(err) != "canceled" {
		t.Errorf("%v", err)
	}
}

// A large file that is renamed and edited does not count as new text, even with a low limit for staged bytes.
func TestRenamedAndEdited(t *testing.T) {
	t.Parallel()
	x := host(t)
	x.Limits.MaxStagedBytes = 10_000
	_, fsys := suite.Rooted(t, "big", strings.Repeat("a line of a large file\n", 5_000)+"end\n")
	res := run(t, x, fsys, suite.One(script(`mv big new; echo end2 >> new`)))
	if len(res.FilesChanged.Renamed) != 1 || !strings.HasSuffix(text(t, fsys, "new"), "file\nend\nend2\n") {
		t.Errorf("%+v", res.FilesChanged)
	}
}
