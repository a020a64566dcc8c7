package resume_test

import (
	"context"
	"errors"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/suite"
)

// A run in parallel can be resumed after the host has set a budget, which counts, or has lifted it.
func TestResume_otherBudget(t *testing.T) {
	t.Parallel()
	few, many := budget.Limit{Files: 1}, budget.Limit{Files: 9, Bytes: 1000}
	for name, c := range map[string]struct {
		first, then budget.Limit
		code        string
	}{
		"set":      {budget.Limit{}, many, ""},
		"lifted":   {many, budget.Limit{}, ""},
		"exceeded": {budget.Limit{}, few, "budget_exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fails := true
			p := millrace.New("p").Options(millrace.Options{Parallel: true}).
				Step("a", actions.Create{Path: "a", Content: "a"}).
				Step("b", suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
					if fails {
						return actions.Outcome{}, errors.New("not yet")
					}
					return actions.Outcome{}, afero.WriteFile(c.FS, "b", []byte("b"), 0o600)
				}}).
				Step("c", actions.Edit{Files: []string{"x"}, OldText: "x", NewText: "y"}).MustBuild()
			fsys, s := suite.Tree("x", "x"), new(store)
			x := millrace.Executor{Checkpoints: s, Budget: c.first}
			if _, err := x.Run(t.Context(), fsys, p); millrace.ErrorCode(err) != "step_failed" {
				t.Fatal(err)
			}
			fails, x.Budget = false, c.then
			_, err := x.Resume(t.Context(), fsys, p, s.saved())
			if code := millrace.ErrorCode(err); code != c.code {
				t.Fatalf("code %q, want %q, of %v", code, c.code, err)
			}
			if there, _ := afero.Exists(fsys, "b"); there != (c.code == "") {
				t.Errorf("written: %v", there)
			}
			if c.code == "" && suite.Read(t, fsys, "x") != "y" {
				t.Error("the last step has not run")
			}
		})
	}
}
