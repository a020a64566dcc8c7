package interpolate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/template"
)

// A path with very many pieces in double braces has a bounded number of suspicions, and no suspicion about templates
// that are problems.
func TestCheckMany(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		unit, code string
		most       int
	}{
		{"{{x.y}}", interpolate.CodeNearTemplate, 1000}, {"{{x|y}}", interpolate.CodeNearTemplate, 1000},
		{"{{find.fils}}", interpolate.CodeBadTemplate, 101},
	} {
		_, problems := checked(interpolate.Step{Action: action{Path: strings.Repeat(test.unit, 3000)}})
		other := slices.ContainsFunc(problems, func(p string) bool { return !strings.Contains(p, " "+test.code+" ") })
		if len(problems) != test.most || other {
			t.Errorf("%s: %d problems, the last is %s", test.unit, len(problems), problems[len(problems)-1])
		}
	}
}

// expanded returns the action of a step after the steps of [steps], with its templates expanded. The variable word has
// a value.
func expanded(action any, word any) (any, error) {
	texts, problems := checked(interpolate.Step{Action: action})
	if len(problems) > 0 {
		return problems, nil
	}
	return texts.Expand(func(ref template.Ref) (any, error) {
		if ref.Root == "vars" {
			return word, nil
		}
		return results(ref)
	}, 1000)
}

// Null is not a text, in any syntax.
func TestExpandNull(t *testing.T) {
	t.Parallel()
	const null = "{{vars.any}}"
	for _, action := range []any{
		actions.Edit{OldText: "x", NewText: null, Mode: "regex"}, actions.Edit{OldText: null, Mode: "regex"},
		actions.Edit{OldText: "x", NewText: null, Mode: "structural"}, actions.Edit{OldText: "x", NewText: null},
		actions.Search{Pattern: null}, actions.PatternReplace{SedPattern: []string{null}},
	} {
		got, err := expanded(action, nil)
		if err == nil || !strings.Contains(err.Error(), "must be a string, but its template gave nothing") {
			t.Errorf("%+v becomes %+v, %v", action, got, err)
		}
	}
	const within = "<" + null + ">"
	got, err := expanded(actions.Edit{OldText: "x", NewText: within, Mode: "regex"}, nil)
	if edit, ok := got.(actions.Edit); err != nil || !ok || edit.NewText != "<null>" {
		t.Errorf("%s becomes %+v, %v", within, got, err)
	}
}

// A name of a file that a template puts into a glob matches itself. Any other value stays a glob.
func TestExpandGlobs(t *testing.T) {
	t.Parallel()
	const one, two = `app/[id]/{a,b}*?.tsx`, `b\c,**`
	values := func(ref template.Ref) (any, error) {
		switch ref.Root + "." + ref.Field {
		case "find.files", "fix-it.files":
			return []string{one, two}, nil
		case "vars.word":
			return "src/**", nil
		}
		return results(ref)
	}
	quotedOne, quotedTwo := `app/\[id\]/\{a\,b\}\*\?.tsx`, `b\\c\,\*\*`
	rootTwo := "{" + quotedTwo + ",./}"
	for _, test := range []struct {
		globs, want []string
	}{
		{[]string{"{{find.files}}"}, []string{quotedOne, rootTwo}},
		{[]string{"{{find.files[0]}}", "{{vars.word}}", "{{fix-it.files[1]}}"}, []string{quotedOne, "src/**", rootTwo}},
		{[]string{"{{fix-it.files}}"}, []string{quotedOne, rootTwo}},
		{[]string{"{{find.files|raw}}"}, []string{one, two}},
		{[]string{"{{vars.word}}/{{find.files[1]}}"}, []string{"src/**/" + quotedTwo}},
		{[]string{"x/{{{find.files}}}"}, []string{"x/{" + quotedOne + "," + quotedTwo + "}"}},
		{[]string{"x/{{find.files|raw}}{{find.files[1]}}"}, []string{`x/app/[id]/{a\,b}*?.tsx,b\\c\,**` + quotedTwo}},
	} {
		for name, given := range map[string]any{
			"include": actions.Search{Pattern: "x", Include: test.globs}, "exclude": actions.List{Exclude: test.globs},
			"needs": actions.Exec{Command: "x", Needs: test.globs}, "writes": actions.Exec{Command: "x", Writes: test.globs},
			"exclude_patterns": actions.PatternReplace{FilePattern: "*", ExcludePatterns: test.globs, SedPattern: []string{"p"}},
		} {
			texts, problems := checked(interpolate.Step{Action: given})
			got, err := texts.Expand(values, 1000)
			if err != nil || len(problems) > 0 {
				t.Errorf("%s %q: %v %v", name, test.globs, err, problems)
				continue
			}
			var globs []string
			switch a := got.(type) {
			case actions.Search:
				globs = a.Include
			case actions.List:
				globs = a.Exclude
			case actions.Exec:
				globs = slices.Concat(a.Needs, a.Writes)
			case actions.PatternReplace:
				globs = a.ExcludePatterns
			}
			if diff := cmp.Diff(test.want, globs); diff != "" {
				t.Errorf("%s %q (-want +got):\n%s", name, test.globs, diff)
			}
		}
	}
}

// A new name and a directory to run in are paths, in which a template without a step is a mistake.
func TestCheckNames(t *testing.T) {
	t.Parallel()
	for _, action := range []any{
		actions.Rename{Renames: map[string]string{"a.txt": "{{fnd.files}}"}}, actions.Rename{Renames: map[string]string{"12": "{{fnd.files}}"}},
		actions.Exec{Command: "x", Dir: "{{fnd.files}}"},
	} {
		if _, problems := checked(interpolate.Step{Action: action}); len(problems) != 1 || !strings.Contains(problems[0], interpolate.CodeUnknownRef) {
			t.Errorf("%+v: %q", action, problems)
		}
	}
}

// The path of a condition has the name of the one file as it is, also next to other text.
func TestPathOfStrangeName(t *testing.T) {
	t.Parallel()
	const name = `a,\.go`
	for path, want := range map[string]string{
		"{{find.files}}": name, "d/{{find.files}}": "d/" + name, "{{find.files[0]}}x{{find.files}}{{fix-it.edits}}": name + "x" + name + "12",
	} {
		texts, problems := checked(interpolate.Step{Action: action{}, Path: path})
		got, _, err := texts.Path(func(ref template.Ref) (any, error) {
			if ref.Field == "files" {
				return []string{name}, nil
			}
			return results(ref)
		})
		if got != want || err != nil || len(problems) > 0 {
			t.Errorf("%s is %s, %v, %v", path, got, err, problems)
		}
	}
}

// A string variable can have a number as its text, also if it has the name of a field of a step.
func TestCheckVariables(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"vars.count": 0, "vars.files": 0, "vars.word": 0, "find.aggregated_content": 1, "prev.files": 1} {
		texts := steps()[at]
		texts.Offer(template.Root{Name: "prev", Fields: []template.Field{{Name: "files", Type: template.String}}})
		texts.Offer(template.Root{Name: "vars", Fields: []template.Field{
			{Name: "count", Type: template.String}, {Name: "files", Type: template.String}, {Name: "word", Type: template.String},
		}})
		problems := 0
		step := interpolate.Step{ID: ids[at], Action: action{}, Bind: map[string]string{"/line": "{{" + name + "}}"}}
		texts.Check(step, func(interpolate.Problem) { problems++ })
		if problems != want {
			t.Errorf("%s has %d problems", name, problems)
		}
	}
}

// A value in a structural pattern is literal, also next to the author's colons and brackets, and in the expression of a
// hole.
func TestExpandStructure(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pattern, word, want string }{
		{"f(a:{{vars.word}})", "[n]", "f(a::[n])"}, {"f({{vars.word}})", "[n]:[x]", "f([n]::[x])"},
		{"f(a::{{vars.word}})", "[n]", "f(a:::[n])"}, {"f({{vars.word}}[n])", "a:", "f(a::[n])"},
		{"{{vars.word}}{{vars.word}}", "[:", "[::[:"}, {"a:{{vars.word}}[n]", "", "a::[n]"},
		{"a:{{vars.word|raw}}{{vars.word}}", "[n]", "a:[n][n]"}, {"a:{{vars.word}}:[x]", "b", "a:b:[x]"},
		{":[x~{{vars.word}}]", "a.b]", `:[x~a\.b\]]`}, {":[x~[{{vars.word}}]+]({{vars.word}})", "a-b", `:[x~[a\-b]+](a-b)`},
		{":[x~{{vars.word|raw}}]", "a.b", ":[x~a.b]"}, {"::[x~{{vars.word}}]", "a.b", "::[x~a.b]"},
		{":[x~.]{{vars.word}}:[y~b{{vars.word}}c{{vars.word}}d]{{vars.word}}", "(", `:[x~.](:[y~b\(c\(d](`},
		{":[x]~{{vars.word}}", "(", ":[x]~("}, {":[[x]]{{vars.word}}", "(", ":[[x]]("},
	} {
		for _, given := range []any{
			actions.Search{Pattern: test.pattern, Mode: "structural"},
			actions.Edit{OldText: "x", NewText: test.pattern, Mode: "structural"},
		} {
			got, err := expanded(given, test.word)
			text := ""
			switch a := got.(type) {
			case actions.Search:
				text = a.Pattern
			case actions.Edit:
				text = a.NewText
			}
			if text != test.want || err != nil {
				t.Errorf("%s with %q is %q, %v, want %q", test.pattern, test.word, text, err, test.want)
			}
		}
	}
}
