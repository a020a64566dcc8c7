package commands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// After a run the tree has the writes of a command, on each kind of file system.
func TestWritesComeBack(t *testing.T) {
	t.Parallel()
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, fsys := host(t), open(t)
			p := millrace.New("p").
				Step("make", actions.Create{Path: "a.txt", Content: "made\n"}).
				Step("run", script("cat a.txt; echo more >> a.txt; mkdir -p d/e; echo new > d/e/f; echo seen >&2")).
				Step("note", actions.Create{Path: "note", Content: "{{run.exit_code}} {{run.stdout}}{{run.changed}}"}).
				MustBuild()
			res := run(t, x, fsys, p)
			wantText(t, fsys, "a.txt", "made\nmore\n")
			wantText(t, fsys, "d/e/f", "new\n")
			wantText(t, fsys, "note", "0 made\n[\"a.txt\",\"d/e/f\"]")
			if got := res.Results[1]; got.Output != "made\nseen\n" || !slices.Equal(got.FilesMatched, []string{"a.txt", "d/e/f"}) || got.EditsApplied != 2 {
				t.Errorf("the step has %+v", got)
			}
			empty(t, x)
		})
	}
}

// A run, a plan with its commit, and a stored plan give the same tree; a dry run writes nothing.
func TestRunIsPlanAndCommit(t *testing.T) {
	t.Parallel()
	x := host(t)
	p := millrace.New("p").Step("run", script("echo x >> a.txt; rm d/b.txt; mkdir e; echo n > e/n")).MustBuild()
	trees := make(map[string]string)
	for _, way := range []string{"run", "plan", "stored", "dry"} {
		fsys := memory()
		y := x
		y.DryRun = way == "dry"
		switch way {
		case "run", "dry":
			run(t, y, fsys, p)
		default:
			plan, err := y.Plan(t.Context(), fsys, p)
			if err != nil {
				t.Fatal(err)
			}
			z := millrace.Executor{State: millrace.State{NoSync: true}} // a commit needs no allowed commands
			if way == "stored" {
				if plan, err = z.OpenPlan(t.Context(), fsys, suite.Stored(t, plan)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := plan.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		trees[way] = fmt.Sprintf("%q %q %q", text(t, fsys, "a.txt"), text(t, fsys, "d/b.txt"), text(t, fsys, "e/n"))
	}
	if want := `"one\nx\n" "" "n\n"`; trees["run"] != want || trees["plan"] != want || trees["stored"] != want {
		t.Errorf("trees are %q", trees)
	}
	if want := `"one\n" "two\n" ""`; trees["dry"] != want {
		t.Errorf("the dry run has left %s", trees["dry"])
	}
}

// A deletion, a rename, a link and permission bits are staged as such.
func TestKindsOfChanges(t *testing.T) {
	t.Parallel()
	x := host(t)
	dir, fsys := suite.Rooted(t, "a.txt", "one\n", "old.txt", "a long text that stays\n", "run.sh", "#!/bin/sh\n", "gone.txt", "gone\n", "d/in.txt", "in\n")
	res := run(t, x, fsys, suite.One(script("rm gone.txt; mv old.txt new.txt; chmod 700 run.sh; ln -s a.txt link; mv d e; mkdir nothing")))
	data := exit(t, res, 0)
	if diff := cmp.Diff([]any{"gone.txt"}, data["deleted"]); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	if got := res.Results[0].Renames["old.txt"]; got != "new.txt" {
		t.Errorf("renames are %q", res.Results[0].Renames)
	}
	if len(res.FilesChanged.Renamed) != 2 {
		t.Errorf("renamed are %v", res.FilesChanged.Renamed)
	}
	if target, err := os.Readlink(filepath.Join(dir, "link")); err != nil || target != "a.txt" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("run.sh: %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "nothing")); err != nil || !info.IsDir() {
		t.Errorf("nothing: %v, %v", info, err)
	}
	wantText(t, fsys, "e/in.txt", "in\n")
	wantText(t, fsys, "gone.txt", "")
	wantText(t, fsys, "old.txt", "")
}

// Parameters of a step can keep changes from being staged, and files from the command.
func TestWhatComesBack(t *testing.T) {
	t.Parallel()
	x := host(t)
	const write = "echo 1 > a.txt; echo 1 > b.go; mkdir -p out build; echo 1 > out/c; echo 1 > build/d"
	for _, test := range []struct {
		name    string
		step    actions.Exec
		want    string // the files that differ afterwards
		warning string
	}{
		{"all but ignored files", actions.Exec{Shell: write}, "a.txt b.go out/c", ""},
		{"ignored files too", actions.Exec{Shell: write, NoIgnore: true}, "a.txt b.go build/d out/c", ""},
		{"some", actions.Exec{Shell: write, Writes: []string{"*.go", "out/**"}}, "b.go out/c", "a.txt"},
		{"a directory", actions.Exec{Shell: write, Writes: []string{"out"}}, "out/c", "a.txt"},
		{"nothing", actions.Exec{Shell: write, Discard: true}, "", ""},
		{"touched only", actions.Exec{Shell: "touch a.txt; cat a.txt > t; cat t > a.txt; rm t"}, "", ""},
		{"needs", actions.Exec{Shell: "test ! -e a.txt && ls d && echo 1 > b.go", Needs: []string{"d/**"}}, "b.go", ""},
		{"exclude", actions.Exec{Shell: "test -e a.txt && test ! -e d/b.txt && echo 1 > b.go", Exclude: []string{"d"}}, "b.go", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fsys := suite.Tree("a.txt", "one\n", "d/b.txt", "two\n", ".gitignore", "build/\n")
			y := x
			y.Commands.Scratch = t.TempDir()
			res := run(t, y, fsys, suite.One(test.step))
			var got []string
			for _, name := range []string{"a.txt", "b.go", "build/d", "out/c"} {
				if text(t, fsys, name) == "1\n" {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("changed are %q, want %s", got, test.want)
			}
			if text(t, fsys, "d/b.txt") != "two\n" || text(t, fsys, "a.txt") == "" {
				t.Error("a file that was hidden from the command is gone")
			}
			warnings := strings.Join(res.Results[0].Warnings, "\n")
			if (warnings == "") != (test.warning == "") || !strings.Contains(warnings, test.warning) {
				t.Errorf("warnings are %q, want %q", warnings, test.warning)
			}
		})
	}
}

// A status that is not in ok_codes fails the step, and its changes are dropped; data and output stay.
func TestStatus(t *testing.T) {
	t.Parallel()
	x := host(t)
	const fixes = "echo fixed > a.txt; echo 'first\nlast line' >&2; exit 3"
	fsys := memory()
	p := millrace.New("p").Step("lint", script(fixes)).OnFail("told").
		Step("told", actions.Create{Path: "told", Content: "{{lint.exit_code}} {{lint.error_code}} {{lint.error}}"}).MustBuild()
	res := run(t, x, fsys, p)
	wantText(t, fsys, "a.txt", "one\n")
	wantText(t, fsys, "told", "3 exec_failed exec failed: exit status 3: last line")
	if got := res.Results[0]; got.ErrorCode != "exec_failed" || got.Output != "first\nlast line\n" || exit(t, res, 0)["exit_code"] != int64(3) {
		t.Errorf("the step has %+v", got)
	}
	fsys = memory()
	run(t, x, fsys, suite.One(actions.Exec{Shell: fixes, OKCodes: []int{0, 3}}))
	wantText(t, fsys, "a.txt", "fixed\n")
	if res, err := x.Run(t.Context(), fsys, suite.One(actions.Exec{Shell: "exit 0", OKCodes: []int{1}})); !suite.Is[*actions.CommandError](err) {
		t.Errorf("%v, %+v", err, res)
	}
	res, err := x.Run(t.Context(), fsys, suite.One(script("kill -9 $$")))
	if cmd := asCommandError(err); cmd == nil || cmd.Signal != "SIGKILL" || exit(t, res, 0)["signal"] != "SIGKILL" {
		t.Errorf("%v, %+v", err, res)
	}
}

// A later failure takes back the work of a command with everything else.
func TestRollback(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	p := millrace.New("p").Step("run", script("echo x > a.txt")).Step("no", actions.Fail{Message: "no"}).MustBuild()
	res, err := x.Run(t.Context(), fsys, p)
	if err == nil || !res.RollbackPerformed {
		t.Errorf("%v, %+v", err, res)
	}
	wantText(t, fsys, "a.txt", "one\n")
	empty(t, x)
}

// The second command sees the tree as the earlier steps have left it, even if the first command changed its own copy.
func TestRenewed(t *testing.T) {
	t.Parallel()
	x := host(t)
	dir, fsys := suite.Rooted(t, "a.txt", "one\n", "b.txt", "b\n", "build/x", "x\n", ".gitignore", "build/\n")
	p := millrace.New("p").
		Step("fails", script("rm -rf *; echo mess > mess; exit 1")).OnFail("drops").
		Step("drops", actions.Exec{Shell: "echo dropped > a.txt; rm b.txt", Discard: true}).
		Step("ignored", script("echo left > build/x; echo new > build/new")).
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "one", NewText: "two"}).
		Step("seen", script("grep . -r . | sort")).
		MustBuild()
	res := run(t, x, fsys, p)
	if got, want := res.Results[4].Output, "./.gitignore:build/\n./a.txt:two\n./b.txt:b\n./build/x:x\n"; got != want {
		t.Errorf("it has seen %q, want %q", got, want)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "build", "x")); string(data) != "x\n" {
		t.Errorf("%q, %v", data, err)
	}
}

// The parameters that set how a command runs.
func TestParameters(t *testing.T) {
	t.Parallel()
	x := host(t)
	x.Commands.StepEnv = []string{"WORD"}
	fsys := suite.Tree("a.txt", "one\n", "b c.txt", "two\n", "d/e/f", "x\n")
	p := millrace.New("p").
		Step("find", actions.Search{Pattern: "o", FileTypes: []string{".txt"}}).
		Step("args", actions.Exec{Command: "printf", Args: []string{"<%s>", "{{find.files}}", "$HOME *"}}).
		Step("lines", actions.Exec{Command: "cat", Stdin: []string{"{{find.files}}", "end"}}).
		Step("text", actions.Exec{Command: "cat", Stdin: "no end {{args.exit_code}}"}).
		Step("whole", actions.Exec{Command: "cat", Stdin: "{{find.files}}"}).
		Step("dir", actions.Exec{Command: "sh", Args: []string{"-c", `basename "$PWD"; cat f; echo "$WORD"`}, Dir: "d/e", Env: map[string]string{"WORD": "{{find.files_count}}"}}).
		Step("before", actions.Exec{Command: "printf", Args: []string{"%s|%s", "{{prev.id}}", "{{run.name}}"}}).
		Step("cut", actions.Exec{Shell: "printf 0123456789", MaxOutput: 4}).
		MustBuild()
	res := run(t, x, fsys, p)
	for i, want := range map[int]string{
		1: "<a.txt><b c.txt><$HOME *>", 2: "a.txt\nb c.txt\nend\n", 3: "no end 0", 4: "a.txt\nb c.txt\n", 5: "e\nx\n2\n", 6: "dir|p", 7: "0789",
	} {
		if got := res.Results[i].Output; got != want {
			t.Errorf("%s has printed %q, want %q", res.Results[i].StepID, got, want)
		}
	}
	if exit(t, res, 7)["truncated"] != true || exit(t, res, 1)["truncated"] != false {
		t.Error("truncated is not reported")
	}
	for _, bad := range []actions.Exec{{Command: "true", Dir: "a.txt"}, {Command: "true", Dir: "none"}, {Command: "true", Dir: "d", Exclude: []string{"d"}}} {
		if _, err := x.Run(t.Context(), fsys, suite.One(bad)); err == nil || !strings.Contains(err.Error(), bad.Dir) {
			t.Errorf("in %s: %v", bad.Dir, err)
		}
	}
}

// Templates can refer to values in JSON output. The values keep their types and digits.
func TestJSON(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	print := func(s string) actions.Exec {
		return actions.Exec{Command: "printf", Args: []string{"%s", s}, Format: "json"}
	}
	p := millrace.New("p").Step("j", print(`{"n": 9007199254740993, "list": [{"name": "x"}]}`)).
		Step("c", actions.Create{Path: "c", Content: "{{j.json.n}} {{j.json.list[0].name}}"}).MustBuild()
	run(t, x, fsys, p)
	wantText(t, fsys, "c", "9007199254740993 x")
	for _, bad := range []string{"", "no", "{} {}", `{"a":`} {
		res, err := x.Run(t.Context(), fsys, suite.One(print(bad)))
		if cmd := asCommandError(err); cmd == nil || res.Results[0].ErrorCode != "exec_failed" || !strings.Contains(err.Error(), "JSON") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	long := actions.Exec{Shell: `echo '"0123456789"'; echo lost > a.txt`, Format: "json", MaxOutput: 5}
	if _, err := x.Run(t.Context(), fsys, suite.One(long)); err == nil || !strings.Contains(err.Error(), "max_output") {
		t.Errorf("%v", err)
	}
	wantText(t, fsys, "a.txt", "one\n")
}

// Steps that run in parallel do not run at the same time as a command. The result is that of a run in sequence.
func TestParallel(t *testing.T) {
	t.Parallel()
	var results []string
	for _, parallel := range []bool{false, true} {
		x, fsys := host(t), memory()
		p := millrace.New("p").
			Step("a", actions.Edit{Files: []string{"a.txt"}, OldText: "one", NewText: "1"}).
			Step("b", actions.Edit{Files: []string{"d/b.txt"}, OldText: "two", NewText: "2"}).
			Step("sum", script("cat a.txt d/b.txt > sum")).
			Step("again", script("cat sum sum > sum2")).
			Step("c", actions.Create{Path: "c", Content: "c"}).Builder.
			Options(millrace.Options{Parallel: parallel}).MustBuild()
		res := run(t, x, fsys, p)
		results = append(results, fmt.Sprintf("%q %v %v", text(t, fsys, "sum2"), res.FilesChanged, res.TotalEdits))
	}
	if results[0] != results[1] || !strings.HasPrefix(results[0], `"1\n2\n1\n2\n"`) {
		t.Errorf("%s\nin parallel %s", results[0], results[1])
	}
}

// The changes of a command have to keep the limits of the host.
func TestLimits(t *testing.T) {
	t.Parallel()
	x := host(t)
	for name, test := range map[string]struct {
		set    func(x *millrace.Executor)
		script string
		what   string
	}{
		"a large file":  {func(x *millrace.Executor) { x.Limits.MaxFileBytes = 100 }, "head -c 101 /dev/zero > big", "file bytes"},
		"much text":     {func(x *millrace.Executor) { x.Limits.MaxStagedBytes = 100 }, "head -c 60 /dev/zero > f; head -c 60 /dev/zero > g", "bytes staged"},
		"many files":    {func(x *millrace.Executor) { x.Commands.MaxChangedFiles = 3 }, "touch 1 2 3 4", "files changed"},
		"a large tree":  {func(x *millrace.Executor) { x.Commands.MaxScratchBytes = 7 }, "true", "bytes for commands"},
		"a wide tree":   {func(x *millrace.Executor) { x.Commands.MaxScratchFiles = 1 }, "true", "files for commands"},
		"it prints all": {func(x *millrace.Executor) { x.Commands.MaxPrinted = 100 }, "yes", "bytes printed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y, fsys := x, memory()
			y.Commands.Scratch = t.TempDir()
			test.set(&y)
			res, err := y.Run(t.Context(), fsys, suite.One(script(test.script)))
			limit := asLimitError(err)
			if limit == nil || limit.What != test.what || res.Results[0].ErrorCode != "limit" {
				t.Fatalf("%v, want a limit of %s", err, test.what)
			}
			if names, _ := afero.ReadDir(fsys, "."); len(names) != 2 {
				t.Errorf("the tree has %v", names)
			}
		})
	}
}
