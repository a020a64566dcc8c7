package library_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/suite"
)

// problems returns the problems of Build, each as "code at pointer: message".
func problems(t *testing.T, b millrace.Builder) []string {
	t.Helper()
	_, err := b.Build()
	wrong, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	var lines []string
	for _, p := range wrong.Problems {
		lines = append(lines, p.Code+" at "+p.Pointer+": "+p.Message)
	}
	return lines
}

// All references between steps get the prefix, and everything else in a step stays.
func TestIncludeRenames(t *testing.T) {
	t.Parallel()
	two := 2
	look := actions.Search{Pattern: "x"}
	sub := millrace.New("sub").
		Step("a", look).
		Step("b", look).MaxVisits(7).MaxRetries(1).Timeout(time.Second).Backoff(time.Minute).
		Step("c", actions.Merge{}).FromAll("a", "b").When(condition.CountGT("a", 5)).
		Step("d", actions.Edit{OldText: "{{a.count}}", NewText: "y"}).From("c").Expect(millrace.Expect{MaxFiles: &two}).
		OnFail("f").Next("e").RetryIf("b", "a").RetryWhen("d", condition.StepFailed("d")).
		Retry(millrace.Retry{Step: "a", When: condition.FileExists("{{x.files[0]}}"), Restart: true}).
		Step("e", actions.ReadRanges{Files: []string{"a", "{{c.files}}"}}).Bind("start_line", "{{a.count}}").
		When(condition.FileExists("{{steps[2].files[0]}}")).
		Step("f", actions.Create{Path: "a", Content: "{{a.count}}"}).Raw().
		MustBuild()
	want := millrace.New("whole").
		Step("before", look).
		Step("go-a", look).
		Step("go-b", look).MaxVisits(7).MaxRetries(1).Timeout(time.Second).Backoff(time.Minute).
		Step("go-c", actions.Merge{}).FromAll("go-a", "go-b").When(condition.CountGT("go-a", 5)).
		Step("go-d", actions.Edit{OldText: "{{go-a.count}}", NewText: "y"}).From("go-c").Expect(millrace.Expect{MaxFiles: &two}).
		OnFail("go-f").Next("go-e").RetryIf("go-b", "a").RetryWhen("go-d", condition.StepFailed("go-d")).
		Retry(millrace.Retry{Step: "go-a", When: condition.FileExists("{{x.files[0]}}"), Restart: true}).
		Step("go-e", actions.ReadRanges{Files: []string{"a", "{{go-c.files}}"}}).Bind("start_line", "{{go-a.count}}").
		When(condition.FileExists("{{go-c.files[0]}}")).
		Step("go-f", actions.Create{Path: "a", Content: "{{a.count}}"}).Raw().
		Step("after", look).From("go-d").
		MustBuild()
	got := millrace.New("whole").Step("before", look).Include(sub, "go").Step("after", look).From("go-d").MustBuild()
	if !got.Equal(want) {
		one, _ := want.MarshalJSON()
		other, _ := got.MarshalJSON()
		t.Errorf("(-want +got):\n%s", cmp.Diff(strings.Split(string(one), ","), strings.Split(string(other), ",")))
	}
	if again, err := sub.MarshalJSON(); err != nil || strings.Contains(string(again), "go-") {
		t.Errorf("the included pipeline was changed: %s, %v", again, err)
	}
}

// Options, limits and the name are not included.
func TestIncludeOfOptions(t *testing.T) {
	t.Parallel()
	sub := millrace.New("sub").Options(millrace.Options{DryRun: true, Force: true}).MaxAttempts(3).Step("a", actions.Search{Pattern: "x"}).MustBuild()
	p := millrace.New("whole").Include(sub, "go").MustBuild()
	if p.Name() != "whole" || p.Options() != (millrace.Options{}) || p.MaxAttempts() != definition.MaxAttempts {
		t.Errorf("got %q, %+v, %d", p.Name(), p.Options(), p.MaxAttempts())
	}
}

// A text means the same as before, whatever other steps there are now.
func TestIncludeTexts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"plain", "plain"},
		{"{{find.count}}", "{{go-find.count}}"},
		{"{{ \tfind.files[-1]\t}}, {{find.files}}{{find.risk}}", "{{ \tgo-find.files[-1]\t}}, {{go-find.files}}{{go-find.risk}}"},
		{"{{step1.count}} {{steps[0].count}}", "{{go-find.count}} {{go-find.count}}"},
		{`\{{step2.count}} \{{steps[1].count}} \{{step9.count}}`, `\{{step2.count}} \{{steps[1].count}} \{{step9.count}}`}, // step 2 is the step itself alone, and an earlier step in the whole pipeline
		{`\{{find.count}}`, "{{find.count}}"},                                            // not a step any more
		{`\{{before.count}}`, `\\\{{before.count}}`},                                     // the backslash was text
		{`{{before.count}} {{ before.files }}`, `\{{before.count}} \{{ before.files }}`}, // no such step alone
		{`\\{{find.count}} \\\{{find.count}}`, `\\{{go-find.count}} \{{find.count}}`},
		{`{{go-find.count}} \{{go-find.count}}`, `\{{go-find.count}} \\\{{go-find.count}}`},
		{"{{{find.count}}} {{find.{{find.count}}", "{{{go-find.count}}} {{find.{{go-find.count}}"},
		{"{{ .Values.x }} {{- find.count -}} {{find}} {{find[0]}} {{fnd.count}}", "{{ .Values.x }} {{- find.count -}} {{find}} {{find[0]}} {{fnd.count}}"},
		{"{{find.count\n}} {{before.count\r}}", "{{find.count\n}} {{before.count\r}}"},
		{`\`, `\`}, {`{{`, `{{`}, {`\\{{`, `\\{{`}, {"é{{find.count}}\x00", "é{{go-find.count}}\x00"},
	} {
		sub := millrace.New("sub").Step("find", actions.Search{Pattern: "x"}).Step("note", actions.Create{Path: "n", Content: test.text}).MustBuild()
		p, err := millrace.New("whole").Step("before", actions.Search{Pattern: "x"}).Include(sub, "go").Build()
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		s, _ := p.Step("go-note")
		if got := s.Action.(actions.Create).Content; got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
		alone, with := suite.Tree("f", "x"), suite.Tree("f", "x")
		if _, err := millrace.Run(t.Context(), alone, sub); err != nil {
			t.Fatal(err)
		}
		if _, err := millrace.Run(t.Context(), with, p); err != nil {
			t.Fatal(err)
		}
		if one, other := suite.Read(t, alone, "n"), suite.Read(t, with, "n"); one != other {
			t.Errorf("%q: alone it writes %q, included %q", test.text, one, other)
		}
	}
}

// A mistake in an inclusion is a problem of the whole pipeline.
func TestIncludeProblems(t *testing.T) {
	t.Parallel()
	look := actions.Search{Pattern: "x"}
	sub := millrace.New("sub").Step("a", look).Step("b", look).From("a").MustBuild()
	many := millrace.New("many")
	for _, id := range strings.Split("a b c d e f g h i j k l m n o p q r s t", " ") {
		many = many.Step(id, look).Builder
	}
	for what, test := range map[string]struct {
		b    millrace.Builder
		want []string
	}{
		"no prefix": {millrace.New("p").Include(sub, ""), []string{
			"invalid_id at /steps/0: invalid prefix '' of an included pipeline (only alphanumeric, -, and _ allowed, at most 255)",
		}},
		"a bad prefix": {millrace.New("p").Step("x", look).Include(sub, "a.b\n"), []string{
			`invalid_id at /steps/1: invalid prefix 'a.b\n' of an included pipeline (only alphanumeric, -, and _ allowed, at most 255)`,
		}},
		"a long prefix": {millrace.New("p").Include(sub, strings.Repeat("a", 254)), []string{
			"id_too_long at /steps/0/id: step ID too long (max 255, got 256)", "id_too_long at /steps/1/id: step ID too long (max 255, got 256)",
		}},
		"twice": {millrace.New("p").Include(sub, "in").Include(sub, "in"), []string{
			"duplicate_id at /steps/2/id: duplicate step ID 'in-a' at indices 0 and 2",
			"duplicate_id at /steps/3/id: duplicate step ID 'in-b' at indices 1 and 3",
		}},
		"nothing": {millrace.New("p").Step("x", look).Include(millrace.Pipeline{}, "in"), []string{
			"no_steps at /steps/1: the pipeline included as 'in' has no steps",
		}},
		"too many": {millrace.New("p").Include(many.MustBuild(), "one").Include(sub, "in"), []string{
			"too_many_steps at /steps: too many steps (max 20, got 22)",
		}},
	} {
		if d := cmp.Diff(test.want, problems(t, test.b)); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	p := millrace.New("p").Include(sub, "one").Include(millrace.New("q").Include(sub, "in").MustBuild(), "two").MustBuild()
	var ids []string
	for _, s := range p.Steps() {
		ids = append(ids, s.ID+"<"+s.InputFrom)
	}
	if d := cmp.Diff([]string{"one-a<", "one-b<one-a", "two-in-a<", "two-in-b<two-in-a"}, ids); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// wholly is an action with a parameter in which only a whole template counts.
type wholly struct {
	suite.Action
	Script string `json:"script,omitempty" param:"whole"`
}

// A text that would become a template, and cannot be escaped, is a problem. It never becomes another text.
func TestIncludeOfWholeTexts(t *testing.T) {
	t.Parallel()
	build := func(script string) millrace.Builder {
		sub := millrace.New("sub").Step("a", actions.Search{Pattern: "x"}).Step("b", wholly{Script: script}).MustBuild()
		return millrace.New("p").Step("before", actions.Search{Pattern: "x"}).Include(sub, "in")
	}
	for script, want := range map[string]string{"{{a.count}}": "{{in-a.count}}", "is {{a.count}}": "is {{a.count}}", `\{{a.count}}`: `\{{a.count}}`} {
		s, _ := build(script).MustBuild().Step("in-b")
		if got := s.Action.(wholly).Script; got != want {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
	}
	want := []string{`invalid_template at /steps/2/params/script: step 'in-b': "{{before.count}}" cannot be included, for it would mean something else here`}
	if d := cmp.Diff(want, problems(t, build("{{before.count}}"))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Variables are included. If both pipelines declare a variable, the declarations must be equal.
func TestIncludeVariables(t *testing.T) {
	t.Parallel()
	sub := func(v ...millrace.Variable) millrace.Pipeline {
		return millrace.New("sub").Variables(v...).Step("a", actions.Create{Path: "{{vars.dir}}/a", Content: "{{vars.n}}"}).MustBuild()
	}
	dir, n := millrace.Variable{Name: "dir", Default: "src"}, millrace.Variable{Name: "n", Type: "integer", Default: 3, Description: "a number"}
	told := n
	told.Description = "another"
	p := millrace.New("p").Variables(told).Include(sub(dir, n), "one").MustBuild()
	if d := cmp.Diff([]millrace.Variable{{Name: "dir", Type: "string", Default: "src"}, {Name: "n", Type: "integer", Default: int64(3), Description: "another"}}, p.Variables()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	fsys := suite.Tree("f", "x")
	if _, err := millrace.Run(t.Context(), fsys, p); err != nil || suite.Read(t, fsys, "src/a") != "3" {
		t.Errorf("%v, %q", err, suite.Read(t, fsys, "src/a"))
	}
	four, choice := millrace.Variable{Name: "n", Default: 4}, millrace.Variable{Name: "n", Default: 3, Enum: []any{3, 4}}
	want := []string{"variable_conflict at /variables/n: variable 'n' is another one in the pipeline that is included"}
	for what, b := range map[string]millrace.Builder{
		"value": millrace.New("p").Variables(four).Include(sub(dir, n), "one"), "enum": millrace.New("p").Include(sub(dir, n), "one").Variables(choice),
		"two":  millrace.New("p").Include(sub(dir, n), "one").Include(sub(dir, four), "two"),
		"type": millrace.New("p").Variables(millrace.Variable{Name: "n", Type: "number", Default: 3}).Include(sub(dir, n), "one"),
	} {
		if d := cmp.Diff(want, problems(t, b)); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	plain := millrace.New("sub").Step("a", actions.Create{Path: "a", Content: `{{vars.n}} \{{vars.n}}`}).MustBuild()
	s, _ := millrace.New("p").Variables(n).Include(plain, "in").MustBuild().Step("in-a")
	if got := s.Action.(actions.Create).Content; got != `\{{vars.n}} \\\{{vars.n}}` {
		t.Errorf("the text became %q", got)
	}
}
