package commands_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
)

// A restart takes back the changes of commands since then, in the stage and in the tree of the commands. Without a
// restart, commands build on these changes.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		x, fsys := host(t), suite.Tree("n", "")
		const third = `echo x >> $MILLRACE_SHARED/count; cp n seen; test $(wc -l < $MILLRACE_SHARED/count) -ge 3`
		p := millrace.New("p").
			Step("add", script("echo x >> n; mkdir d; mv d e$(wc -l < n); echo y > e$(wc -l < n)/f")).
			Step("enough", script(third)).Retry(millrace.Retry{Step: "add", When: condition.StepFailed("enough"), Restart: restart}).
			MustBuild()
		res := run(t, x, fsys, p)
		want, last := "x\nx\nx\n", "e3/f"
		if restart {
			want, last = "x\n", "e1/f"
		}
		wantText(t, fsys, "n", want)
		wantText(t, fsys, "seen", want)
		wantText(t, fsys, last, "y\n")
		if _, err := fsys.Stat("e2"); restart != errors.Is(err, os.ErrNotExist) || res.Results[0].Visits != 3 {
			t.Errorf("restart %t: %v, %+v", restart, err, res)
		}
	}
}

// With continue_on_error the work of the commands that did not fail is committed.
func TestContinueOnError(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	p := millrace.New("p").Options(millrace.Options{ContinueOnError: true}).
		Step("one", script("echo 1 > one")).Step("two", script("echo 2 > two; exit 1")).Step("three", script("ls > three")).MustBuild()
	if _, err := x.Run(t.Context(), fsys, p); asCommandError(err) == nil || !millrace.Written(err) {
		t.Errorf("%v", err)
	}
	wantText(t, fsys, "one", "1\n")
	wantText(t, fsys, "two", "")
	wantText(t, fsys, "three", "a.txt\nd\none\nthree\n")
}

// If only some paths are allowed, commands see only these.
func TestAllowedPaths(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.AllowedPaths = []string{"d"}
	res := run(t, x, fsys, suite.One(script("find . -type f; echo 2 > d/b.txt")))
	if got := res.Results[0].Output; got != "./d/b.txt\n" {
		t.Errorf("it has seen %q", got)
	}
	if _, err := x.Run(t.Context(), fsys, suite.One(script("echo x > a.txt"))); !errors.Is(err, fsutil.ErrNotAllowed) {
		t.Errorf("%v", err)
	}
	wantText(t, fsys, "a.txt", "one\n")
	wantText(t, fsys, "d/b.txt", "2\n")
}

// A program in the tree is named by its path from the root, in any working directory. The command runs the version that
// earlier steps have left.
func TestProgramOfTheTree(t *testing.T) {
	t.Parallel()
	x := host(t)
	x.Commands.Allow = []string{"./tools/* *"}
	dir, fsys := suite.Rooted(t, "tools/gen.sh", "#!/bin/sh\necho old $1 > made\n", "d/f", "")
	if err := os.Chmod(filepath.Join(dir, "tools", "gen.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := millrace.New("p").
		Step("edit", actions.Edit{Files: []string{"tools/gen.sh"}, OldText: "old", NewText: "new"}).
		Step("gen", actions.Exec{Command: "./tools/gen.sh", Args: []string{"{{edit.edits}}"}, Dir: "d"}).
		MustBuild()
	run(t, x, fsys, p)
	wantText(t, fsys, "d/made", "new 1\n")
}

// Changes of another program between the command and the commit are not lost.
func TestConflict(t *testing.T) {
	t.Parallel()
	x := host(t)
	dir, fsys := suite.Rooted(t, "a.txt", "one\n", "b.txt", "b\n")
	plan, err := x.Plan(t.Context(), fsys, suite.One(script("echo two > a.txt; rm b.txt")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("theirs\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Commit(t.Context()); !suite.Is[*millrace.ConflictError](err) {
		t.Errorf("%v", err)
	}
	wantText(t, fsys, "a.txt", "theirs\n")
	wantText(t, fsys, "b.txt", "b\n")
}

// A restore from the backup undoes the work of a command.
func TestRestore(t *testing.T) {
	t.Parallel()
	x := host(t)
	dir, fsys := suite.Rooted(t, "a.txt", "one\n", "d/b.txt", "two\n")
	before := treeOf(t, dir)
	res := run(t, x, fsys, suite.One(script("echo x > a.txt; mv d e; echo n > n; chmod 600 a.txt")))
	if _, err := x.Restore(t.Context(), fsys, res.BackupID); err != nil {
		t.Fatal(err)
	}
	if after := treeOf(t, dir); len(after) != len(before) || after["a.txt"] != before["a.txt"] || after["d/b.txt"] != before["d/b.txt"] {
		t.Errorf("the tree is %v, was %v", after, before)
	}
}

// A process that runs on after it has closed its output is waited for, within the timeout.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	p := millrace.New("p").Step("s", script("exec >&- 2>&-; sleep 0.3; echo late > a.txt")).Timeout(time.Minute).MustBuild()
	run(t, x, fsys, p)
	wantText(t, fsys, "a.txt", "late\n")
}
