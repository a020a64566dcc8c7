package plans_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestStoredPlanIsShownOnceFilesHaveMovedOn stores plans that edit, overwrite, rename and delete a file. Once the file
// has changed or is gone, the stored plan shows the same as before, names the file in a warning, and cannot be
// committed.
func TestStoredPlanIsShownOnceFilesHaveMovedOn(t *testing.T) {
	edit := actions.Edit{Files: []string{"a.txt"}, OldText: "two", NewText: "2"}
	for name, steps := range map[string][]actions.Action{
		"edit":      {edit},
		"overwrite": {actions.Create{Path: "a.txt", Content: "new\n", Overwrite: true}},
		"delete":    {actions.Delete{Files: []string{"a.txt"}}},
		"rename":    {edit, actions.Rename{Files: []string{"a.txt"}, To: "b.txt"}},
	} {
		for drift, move := range map[string]func(afero.Fs) error{
			"written": func(f afero.Fs) error { return afero.WriteFile(f, "a.txt", []byte("zero\none\ntwo\nthree\n"), 0o644) },
			"removed": func(f afero.Fs) error { return f.Remove("a.txt") },
			"stays":   func(afero.Fs) error { return nil },
		} {
			t.Run(name+" "+drift, func(t *testing.T) {
				fsys := suite.Tree("a.txt", "one\ntwo\nthree\n", "c.txt", "c\n")
				b := millrace.New("moved").Step("first", steps[0])
				if len(steps) > 1 {
					b = b.Step("second", steps[1])
				}
				plan, err := millrace.Executor{}.Plan(t.Context(), fsys, b.MustBuild())
				if err != nil {
					t.Fatal(err)
				}
				want, stored := plan.Diff(), suite.Stored(t, plan)
				if err := move(fsys); err != nil {
					t.Fatal(err)
				}
				plan, err = millrace.Executor{}.OpenPlan(t.Context(), fsys, stored)
				if err != nil {
					t.Fatal(err)
				}
				if got := plan.Diff(); got != want {
					t.Errorf("the diff is\n%s\nwas\n%s", got, want)
				}
				if _, err := plan.Files(); err != nil {
					t.Error(err)
				}
				warned := strings.Contains(strings.Join(plan.Result().Warnings, "\n"), "a.txt has changed since")
				if warned != (drift != "stays") {
					t.Errorf("warnings are %q", plan.Result().Warnings)
				}
				res, err := plan.Commit(t.Context())
				if res != nil && strings.Contains(strings.Join(res.Warnings, "\n"), "a.txt has changed since") {
					t.Errorf("the commit warns of what its conflict names: %q", res.Warnings)
				}
				if _, conflict := errors.AsType[*millrace.ConflictError](err); conflict != (drift != "stays") {
					t.Errorf("commit: %v", err)
				}
			})
		}
	}
}

// TestStoredPlanWithoutOldText opens plans whose old text is too long to be stored, is missing, or does not match its
// hash.
func TestStoredPlanWithoutOldText(t *testing.T) {
	stored := func(t *testing.T, text string) (afero.Fs, []byte) {
		fsys := suite.Tree("a.txt", text)
		p := millrace.New("p").Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "two", NewText: "2"}).MustBuild()
		plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		return fsys, suite.Stored(t, plan)
	}
	with := func(data []byte, change func(map[string]any)) []byte {
		var v map[string]any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		change(v["changes"].([]any)[0].(map[string]any))
		return []byte(suite.JSON(t, v))
	}
	fsys, data := stored(t, "one\ntwo\n")
	long, large := stored(t, "two\n"+strings.Repeat("line\n", 20000))
	if len(large) > 20000 {
		t.Errorf("the plan of one word in a long file has %d bytes", len(large))
	}
	without := with(data, func(c map[string]any) { delete(c, "before") })
	for name, test := range map[string]struct {
		fsys afero.Fs
		data []byte
	}{"long": {long, large}, "missing": {fsys, without}} {
		open := func() *millrace.Plan {
			plan, err := millrace.Executor{}.OpenPlan(t.Context(), test.fsys, test.data)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return plan
		}
		if _, err := open().Files(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := afero.WriteFile(test.fsys, "a.txt", []byte("other\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := open().Files(); !errors.Is(err, fsutil.ErrDrift) || !strings.Contains(err.Error(), "a.txt") {
			t.Errorf("%s: a file that has changed: %v", name, err)
		}
	}
	for _, text := range []string{"", "b25lCnR3bwp4", "b25lCnR3eAo="} {
		bad := with(data, func(c map[string]any) { c["before"] = text })
		if _, err := (millrace.Executor{}).OpenPlan(t.Context(), fsys, bad); err == nil || !strings.Contains(err.Error(), "text before") {
			t.Errorf("old text %q: %v", text, err)
		}
	}
}
