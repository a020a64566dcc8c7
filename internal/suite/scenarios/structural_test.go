package scenarios_test

import (
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// drawStructural draws a step whose pattern is code with holes.
func drawStructural(t *rapid.T, files []string, from bool, onError string) actions.Action {
	const mode = "structural"
	pattern, lang := genHole.Draw(t, "holes"), rapid.SampledFrom([]string{"", "go", "c"}).Draw(t, "language")
	switch n := rapid.IntRange(0, 5).Draw(t, "structural kind"); {
	case n == 0 && !from:
		return actions.Search{Pattern: pattern, Mode: mode, Language: lang, Matches: true}
	case n == 1:
		return actions.CountOccurrences{Files: files, Pattern: pattern, Mode: mode, Language: lang}
	case n == 2:
		return actions.MultiEdit{Files: files, Structural: true, Language: lang, OnError: onError, Edits: []actions.TextEdit{
			{OldText: pattern, NewText: "bar(:[a])"}, {OldText: "bar(:[b])", NewText: "foo {\n\t:[b]\n}"},
		}}
	default:
		with := rapid.SampledFrom([]string{"x(:[a])", "foo(\n\t:[a.upper],\n)", ":[a]", ""}).Draw(t, "replacement")
		return actions.Edit{Files: files, OldText: pattern, NewText: with, Mode: mode, Language: lang, OnError: onError}
	}
}

// editsByShape returns how many edits the structural patterns of a run have made.
func editsByShape(p millrace.Pipeline, res *millrace.Result) (edits int) {
	structural := make(map[string]bool)
	for _, s := range p.Steps() {
		switch a := s.Action.(type) {
		case actions.Edit:
			structural[s.ID] = a.Mode == "structural"
		case actions.MultiEdit:
			structural[s.ID] = a.Structural
		}
	}
	for _, r := range res.Results {
		if structural[r.StepID] {
			edits += r.EditsApplied
		}
	}
	return edits
}
