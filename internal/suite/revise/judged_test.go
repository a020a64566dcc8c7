package revise_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

func TestReviseErrors(t *testing.T) {
	t.Parallel()
	_, plan := threePlaces(t)
	hunks := hunksOf(t, plan)
	changed := hunks[0]
	changed.Text = strings.Replace(changed.Text, "yy", "evil", 1)
	moved := hunks[0]
	moved.OldStart++
	nul, both, long := "a\x00\n", "6\n7\n8\nB\nbetweeN\n", strings.Repeat("long\n", 1000)
	other := "BETWEEN\nthree\n"
	parts := hunks[1].Split()
	for name, test := range map[string]struct {
		parts []millrace.Part
		want  string
	}{
		"a hunk that does not exist": {[]millrace.Part{{Hunk: changed}}, "revise a.txt: part 0: the file has no such hunk in this plan"},
		"another place":              {[]millrace.Part{{Hunk: hunks[1]}, {Hunk: moved}}, "revise a.txt: part 1: the file has no such hunk in this plan"},
		"twice":                      {[]millrace.Part{{Hunk: hunks[0]}, {Hunk: hunks[0]}}, "part 1: another part has the same lines, from line 1 on"},
		"whole and part":             {[]millrace.Part{{Hunk: hunks[1]}, {Hunk: parts[1]}}, "another part has the same lines"},
		"NUL":                        {[]millrace.Part{{Hunk: hunks[0], Text: &nul}}, "the text has a NUL byte"},
		"both change the context":    {[]millrace.Part{{Hunk: parts[0], Text: &both}, {Hunk: parts[1], Text: &other}}, "two parts change the lines between them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := plan.Revise("a.txt", test.parts...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := plan.Revise("b.txt", millrace.Part{Hunk: hunks[0]}); err == nil || err.Error() != "revise b.txt: the plan changes nothing there" {
		t.Errorf("another file: %v", err)
	}
	t.Run("too long", func(t *testing.T) {
		t.Parallel()
		fsys := suite.Tree("a.txt", "x\n")
		x := millrace.Executor{Limits: actions.Limits{MaxOutputBytes: 4000}}
		plan, err := x.Plan(t.Context(), fsys, suite.Edit("a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = plan.Revise("a.txt", millrace.Part{Hunk: hunksOf(t, plan)[0], Text: &long})
		if limit, ok := errors.AsType[*actions.LimitError](err); !ok || limit.Limit != 4000 {
			t.Errorf("error %v", err)
		}
	})
	t.Run("drift", func(t *testing.T) {
		t.Parallel()
		fsys, plan := threePlaces(t)
		hunks := hunksOf(t, plan)
		mine := "mine\n1\n2\n3\n"
		revised, err := plan.Revise("a.txt", millrace.Part{Hunk: hunks[0], Text: &mine})
		if err != nil {
			t.Fatal(err)
		}
		if err := afero.WriteFile(fsys, "a.txt", []byte("other\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := revised.Commit(t.Context()); err == nil || millrace.ErrorCode(err) != "conflict" {
			t.Errorf("committed after the file has changed: %v", err)
		}
		if got := suite.Read(t, fsys, "a.txt"); got != "other\n" {
			t.Errorf("the file is %q", got)
		}
	})
}

// TestReviseIsJudgedAnew: rejected changes no longer count, so a blocked plan can become a plan that is not blocked.
func TestReviseIsJudgedAnew(t *testing.T) {
	t.Parallel()
	fsys, plan := planOf(t, strings.Repeat("x\n", 600)+strings.Repeat("-\n", 10)+"x\n", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"})
	if !plan.Result().WouldBlock {
		t.Fatal("the plan is not blocked")
	}
	revised, err := plan.Revise("a.txt", millrace.Part{Hunk: hunksOf(t, plan)[0]})
	if err != nil {
		t.Fatal(err)
	}
	if r := revised.Result(); r.WouldBlock || r.TotalEdits != 1 {
		t.Errorf("blocked %t, %d edits", r.WouldBlock, r.TotalEdits)
	}
	if _, err := revised.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := suite.Read(t, fsys, "a.txt"); !strings.HasSuffix(got, "-\ny\n") || strings.Count(got, "y") != 1 {
		t.Errorf("the file ends in %q", got[len(got)-20:])
	}
}

// TestRevisedDiffIsTaken: git and patch accept the diff of a revised plan, even with a reviewer's text in it.
func TestRevisedDiffIsTaken(t *testing.T) {
	t.Parallel()
	fsys, plan := threePlaces(t)
	before := suite.Read(t, fsys, "a.txt")
	h := hunksOf(t, plan)
	mine := "between\nmine\nand mine\n"
	revised, err := plan.Revise("a.txt", millrace.Part{Hunk: h[0]}, millrace.Part{Hunk: h[1].Split()[1], Text: &mine})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range [][]string{{"git", "apply", "-p1"}, {"patch", "-s", "-p1"}} {
		if _, err := exec.LookPath(tool[0]); err != nil {
			t.Logf("%s is not installed", tool[0])
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/a.txt", []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), tool[0], tool[1:]...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(revised.Diff())
		out, err := cmd.CombinedOutput()
		got, _ := os.ReadFile(dir + "/a.txt")
		if want := planned(t, before, revised); err != nil || string(got) != want {
			t.Errorf("%s: %v, %s, got %q, want %q", tool[0], err, out, got, want)
		}
	}
}
