package millracetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Case is one use of an action, for [Action].
type Case struct {
	// Name is the name of the subtest. Empty means a number.
	Name string
	// Action has the parameters. Nil means the action that [Action] was given.
	Action actions.Action
	// Input is an earlier step, whose files become the files of the action. Nil means that the action names its own files,
	// or needs none.
	Input actions.Action
	// Tree is the tree before the run, as a text for [Tree].
	Tree string
	// Want is the tree after the run. Empty means that the tree does not change.
	Want string
	// Error is a part of the error text of the run. Empty means that the run succeeds.
	Error string
	// Invalid is the code of a problem that validation finds in the action, such as "missing_param"; then nothing runs.
	// Empty means that the parameters are valid.
	Invalid string
}

// Action checks, for each case, that an action of your own follows the rules of package actions:
//
//   - The action has a valid name, a summary, a description of each parameter, and a place in the JSON Schema.
//   - Its JSON form decodes to the same action, with the same effect.
//   - Validation finds wrong parameters (Case.Invalid) before anything is read.
//   - The run leaves the wanted tree. The dry run writes nothing, and its commit leaves the same tree.
//   - Several goroutines give the same result as one goroutine. So does a pipeline with the option parallel.
//   - The action returns within ten seconds after its context has ended, and does not panic.
//   - A failure, of the action or of a later step, leaves no changes in the tree.
//   - If the action has the method Touches, it writes only the paths that Touches returns, and the files of an earlier
//     step.
//
// The contract is checked for these cases only, so write a case for each path through the action. An action with
// effects outside of the tree, see [actions.Spec], is not compared with its dry run.
func Action(t testing.TB, a actions.Action, cases ...Case) {
	t.Helper()
	c := contract{action: a, name: a.Spec().Name, patience: 10 * time.Second}
	c.test(t, cases)
}

// contract tests one action.
type contract struct {
	action   actions.Action
	name     string
	decoder  millrace.Decoder
	patience time.Duration // how long an action may run after its context has ended
}

func (c *contract) test(t testing.TB, cases []Case) {
	t.Helper()
	c.decoder.Actions = actions.Builtin().With(c.action)
	if err := c.decoder.Actions.Err(); err != nil {
		t.Fatalf("millracetest: the action cannot be registered: %v", err)
	}
	if len(cases) == 0 {
		t.Fatalf("millracetest: the action %s has no cases", c.name)
	}
	each(t, "docs", func(t testing.TB) {
		t.Helper()
		c.docs(t)
	})
	for i, one := range cases {
		if one.Action == nil {
			one.Action = c.action
		}
		each(t, cmp.Or(one.Name, fmt.Sprint("case ", i+1)), func(t testing.TB) {
			t.Helper()
			c.one(t, one)
		})
	}
}

// docs checks the texts of the action for people and models.
func (c *contract) docs(t testing.TB) {
	t.Helper()
	doc, ok := c.decoder.Describe(c.name)
	if !ok || doc.Summary == "" {
		t.Errorf("the action %s has no summary", c.name)
	}
	for _, p := range doc.Params {
		if p.Doc == "" {
			t.Errorf("the parameter %s has no text; set its tag doc", p.Name)
		}
	}
	schema, err := c.decoder.Schema()
	if err != nil || !json.Valid(schema) || !strings.Contains(string(schema), fmt.Sprintf("%q", c.name)) {
		t.Errorf("the JSON Schema does not have the action %s: %v", c.name, err)
	}
}

// pipeline builds the pipeline of a case, with more steps after the action.
func (c *contract) pipeline(one Case, o millrace.Options, after ...actions.Action) (millrace.Pipeline, error) {
	b := millrace.New("contract").Options(o)
	if one.Input != nil {
		b = b.Step("input", one.Input).Builder
	}
	s := b.Step("action", one.Action).MaxRetries(0)
	if one.Input != nil {
		s = s.From("input")
	}
	b = s.Builder
	for i, a := range after {
		b = b.Step(fmt.Sprintf("after-%d", i+1), a).Builder
	}
	return b.Build()
}

// one tests one case.
func (c *contract) one(t testing.TB, one Case) {
	t.Helper()
	if got := one.Action.Spec().Name; got != c.name {
		t.Fatalf("millracetest: the case has the action %q, want %q", got, c.name)
	}
	p, err := c.pipeline(one, millrace.Options{})
	if one.Invalid != "" {
		c.invalid(t, one, err)
		return
	}
	if err != nil {
		t.Fatalf("the parameters are refused: %v", err)
	}
	decoded, ok := c.json(t, p)
	if !ok {
		return
	}
	want := one.Want
	if want == "" {
		want = one.Tree
	}
	fsys := Tree(t, one.Tree)
	res, err := millrace.Executor{Workers: 1}.Run(t.Context(), fsys, p)
	switch {
	case one.Error == "" && err != nil:
		t.Errorf("the run has an error: %v", err)
	case one.Error != "" && err == nil:
		t.Errorf("the run has no error, want %q", one.Error)
	case one.Error != "" && !strings.Contains(err.Error(), one.Error):
		t.Errorf("the error has no %q in it: %v", one.Error, err)
	}
	Equal(t, fsys, want)
	if t.Failed() {
		return
	}
	c.decoded(t, one, decoded, res, want)
	c.parallel(t, one, res, want)
	c.canceled(t, one, res)
	if err != nil {
		return // a failed run has no remains to check
	}
	if one.Action.Spec().Outside {
		c.touches(t, one, res, changedNames(res.FilesChanged))
	} else {
		c.dryRun(t, one, p, res, want)
	}
	c.rolledBack(t, one)
}

// invalid checks that validation has found a problem of the action with the code of the case.
func (c *contract) invalid(t testing.TB, one Case, err error) {
	t.Helper()
	wrong, ok := asType[*millrace.ValidationError](err)
	if !ok {
		t.Errorf("validation finds no problem, want %q: implement Validate, or set a tag param", one.Invalid)
		return
	}
	codes := make([]string, 0, len(wrong.Problems))
	for _, p := range wrong.Problems {
		if p.Step != "action" {
			continue
		}
		if p.Code == one.Invalid {
			return
		}
		codes = append(codes, p.Code)
	}
	t.Errorf("validation finds the problems %q of the action, want %q: %v", codes, one.Invalid, err)
}

// json encodes the pipeline as JSON and decodes it again.
func (c *contract) json(t testing.TB, p millrace.Pipeline) (back millrace.Pipeline, ok bool) {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Errorf("the pipeline has no JSON form: %v", err)
		return back, false
	}
	back, err = c.decoder.Decode(data)
	if err != nil {
		t.Errorf("the JSON form cannot be read back: %v\n%s", err, data)
		return back, false
	}
	if !back.Equal(p) {
		t.Errorf("the JSON form reads back as another action:\n%s", data)
		return back, false
	}
	return back, true
}

// openTree returns a new file system with the tree of the case.
func (one Case) openTree(t testing.TB) afero.Fs {
	t.Helper()
	return Tree(t, one.Tree)
}
