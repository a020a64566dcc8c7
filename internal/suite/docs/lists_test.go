package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
)

// TestDocsEvents checks that the lists of events are complete: the doc comment of Event, and the table in
// docs/json-results.md with all their fields.
func TestDocsEvents(t *testing.T) {
	text := section(t, "docs/json-results.md", "Events")
	events := []millrace.Event{
		millrace.RunStarted{}, millrace.RunFinished{}, millrace.StepStarted{}, millrace.StepProgress{}, millrace.FileStaged{},
		millrace.StepOutput{}, millrace.StepFinished{}, millrace.StepRetrying{}, millrace.StepJumped{}, millrace.CostSpent{},
		millrace.StepReplayed{}, millrace.AgentReplied{}, millrace.RiskJudged{}, millrace.CommitPhase{},
	}
	var kinds, types []string
	for _, e := range events {
		kinds = append(kinds, e.Kind())
		types = append(types, reflect.TypeOf(e).Name())
		_, row, _ := strings.Cut(text, "| `"+e.Kind()+"` |")
		row, _, _ = strings.Cut(row, "\n")
		for _, name := range fieldsOf(reflect.TypeOf(e), inJSON) {
			if !strings.Contains(row, "`"+name+"`") {
				t.Errorf("docs/json-results.md does not list %s of %s", name, e.Kind())
			}
		}
	}
	sameWords(t, "docs/json-results.md, in the table of section Events,", firstCells(text), kinds)
	declared, comment := eventsOf(t, "event.go")
	sameWords(t, "events in TestDocsEvents, internal/suite/docs/lists_test.go,", types, declared)
	comment, _, _ = strings.Cut(comment, "As JSON")
	sameWords(t, "the doc comment of Event in event.go", linked(comment), declared)
}

// eventsOf returns the types of a file that are events, and the doc comment of Event.
func eventsOf(t *testing.T, name string) (types []string, comment string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || d.Name.Name != "isEvent" {
				continue
			}
			if typ, ok := d.Recv.List[0].Type.(*ast.Ident); ok {
				types = append(types, typ.Name)
			}
		case *ast.GenDecl:
			if spec, ok := d.Specs[0].(*ast.TypeSpec); ok && spec.Name.Name == "Event" {
				comment = d.Doc.Text()
			}
		}
	}
	return types, comment
}

// linked returns the names that a doc comment has in brackets.
func linked(comment string) (names []string) {
	for _, m := range regexp.MustCompile(`\[\*?([A-Z]\w*)\]`).FindAllStringSubmatch(comment, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestDocsConditions checks that the table of conditions is complete, with their fields.
func TestDocsConditions(t *testing.T) {
	text := section(t, "docs/json.md", "Conditions")
	var types []string
	for _, typ := range condition.Types() {
		types = append(types, string(typ))
		for row := range strings.Lines(text) {
			cells := strings.Split(row, "|")
			if len(cells) < 3 || !strings.Contains(cells[1], "`"+string(typ)+"`") {
				continue
			}
			for _, name := range typ.Fields()[1:] {
				if !strings.Contains(cells[2], "`"+name+"`") {
					t.Errorf("docs/json.md, in the table of section Conditions, does not list %s of %s", name, typ)
				}
			}
		}
	}
	sameWords(t, "docs/json.md, in the table of section Conditions,", firstCells(text), types)
}

// TestDocsOfActions checks that the list of the built-in actions in the doc comment of package actions is complete.
func TestDocsOfActions(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "actions/doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(file.Doc.Text(), "# The built-in actions\n")
	text, _, _ = strings.Cut(text, "\n# ")
	listed := slices.DeleteFunc(linked(text), func(name string) bool { return name == "Builtin" })
	var types []string
	for _, name := range actions.Builtin().Names() {
		a, _ := actions.Builtin().Lookup(name)
		types = append(types, reflect.TypeOf(a).Name())
	}
	sameWords(t, "the section of built-in actions in actions/doc.go", listed, types)
}
