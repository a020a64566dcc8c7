package lsp_test

import (
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/lsp"
	"github.com/millrace-go/millrace/risk"
)

// For a blocked plan the editor asks, and shows the reason.
func TestConfirmationOfBlocked(t *testing.T) {
	fsys := suite.Tree("a", "x", "b", "x")
	plan, err := millrace.Executor{MaxFiles: 1}.Plan(t.Context(), fsys, suite.Edit("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	edit, err := lsp.From(plan, lsp.Options{Root: "/r"})
	note := edit.ChangeAnnotations["e"]
	if reason := plan.Result().BlockReason; err != nil || reason == "" || !note.NeedsConfirmation ||
		note.Description != "edit, "+reason {
		t.Errorf("%v, %+v, want the reason %q", err, note, reason)
	}
}

// The same plan with force is not blocked.
func TestConfirmationOfForced(t *testing.T) {
	policy := risk.Policy{High: risk.Threshold{Files: 2}}
	p := suite.Edit("a", "b").WithOptions(millrace.Options{Force: true})
	plan, err := millrace.Executor{Risk: policy}.Plan(t.Context(), suite.Tree("a", "x", "b", "x"), p)
	if err != nil {
		t.Fatal(err)
	}
	edit, err := lsp.From(plan, lsp.Options{Root: "/r"})
	want := lsp.ChangeAnnotation{Label: "e", NeedsConfirmation: true, Description: "edit, HIGH risk"}
	if note := edit.ChangeAnnotations["e"]; err != nil || note != want {
		t.Errorf("%v, %+v", err, note)
	}
}
