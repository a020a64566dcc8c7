package millracetest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
)

// upper changes files to upper case. Its parameter Wrong selects a mistake.
type upper struct {
	Files []string `json:"files,omitempty" doc:"Files to change."`
	Wrong string   `json:"wrong,omitempty" doc:"The mistake."`
	Word  lossy    `json:"word,omitempty" doc:"A word."`
}

// lossy loses its text in JSON.
type lossy string

func (l lossy) MarshalText() ([]byte, error)      { return []byte("forgotten"), nil }
func (l *lossy) UnmarshalText(t []byte) error     { *l = lossy(t); return nil }
func (u upper) Spec() actions.Spec                { return upperSpec() }
func (u upper) Touches() (r, w []string, ok bool) { return u.Files, u.Files, true }

func upperSpec() actions.Spec {
	return actions.Spec{Name: "upper", Summary: "upper-case whole files", Input: actions.InputFiles}
}

func (u upper) Validate(c *actions.Check) {
	if u.Wrong == "invalid" {
		c.Problemf("/wrong", "bad_wrong", "", "this cannot be wrong")
	}
}

func (u upper) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	switch u.Wrong {
	case "fails":
		_ = afero.WriteFile(c.FS, "half.txt", []byte("half"), 0o644)
		return actions.Outcome{}, errors.New("cannot be done")
	case "dry":
		if c.DryRun {
			return actions.Outcome{}, nil
		}
	case "dry fails":
		if c.DryRun {
			return actions.Outcome{}, errors.New("not in a dry run")
		}
	case "workers":
		c.Warnf("%d goroutines", c.Workers)
	case "elsewhere":
		if err := afero.WriteFile(c.FS, "elsewhere.txt", nil, 0o644); err != nil {
			return actions.Outcome{}, err
		}
	case "panics":
		if ctx.Err() != nil {
			panic("nobody waits")
		}
	case "ends":
		if ctx.Err() != nil {
			select {} // blocks forever
		}
	}
	return c.EditEach(ctx, func(_ string, old []byte) ([]byte, error) {
		return append(bytes.ToUpper(old), u.Word...), nil
	})
}

func TestAction(t *testing.T) {
	Action(t, upper{},
		Case{Action: upper{Files: []string{"a.txt"}}, Tree: oneFile, Want: "-- a.txt --\nA\n-- d/b.txt --\nb\n"},
		Case{
			Name: "from a step", Input: actions.List{Path: "d"},
			Tree: oneFile, Want: "-- a.txt --\na\n-- d/b.txt --\nB\n",
		},
		Case{Action: upper{Files: []string{"absent"}}, Tree: oneFile, Error: "file does not exist"},
		Case{Action: upper{Files: []string{"a.txt"}, Wrong: "fails"}, Tree: oneFile, Error: "cannot be done"},
		Case{Action: upper{Files: []string{"a.txt"}, Wrong: "invalid"}, Invalid: "bad_wrong"},
		Case{Name: "no files", Invalid: "missing_input"},
	)
}

// The actions of the library keep the contract.
func TestAction_builtin(t *testing.T) {
	for name, c := range map[string]Case{
		"edit": {
			Action: actions.Edit{Files: []string{"a.txt"}, OldText: "a", NewText: "A"},
			Want:   "-- a.txt --\nA\n-- d/b.txt --\nb\n",
		},
		"create": {Action: actions.Create{Path: "c/c.txt", Content: "c\n"}, Want: oneFile + "-- c/c.txt --\nc\n"},
		"delete": {Action: actions.Delete{Files: []string{"d/b.txt"}}, Want: "-- a.txt --\na\n-- d/ --\n"},
		"rename": {
			Action: actions.Rename{Files: []string{"d/b.txt"}, To: "c.txt"}, Want: "-- a.txt --\na\n-- c.txt --\nb\n-- d/ --\n",
		},
		"copy":   {Action: actions.Copy{Files: []string{"a.txt"}, To: "c.txt"}, Want: oneFile + "-- c.txt --\na\n"},
		"search": {Action: actions.Search{Pattern: "b"}},
		"list":   {Action: actions.List{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Tree = oneFile
			cases := []Case{c}
			if name != "create" && name != "search" && name != "list" {
				other := Case{Action: c.Action, Tree: "-- other.txt --\n", Error: "file does not exist"}
				cases = append(cases, other)
			}
			Action(t, c.Action, cases...)
		})
	}
}

// outsider has effects outside of the tree, and writes b.txt.
type outsider struct {
	File string `json:"file" doc:"The file that it is said to write."`
}

func (outsider) Spec() actions.Spec {
	return actions.Spec{Name: "outsider", Summary: "acts elsewhere", Outside: true, Input: actions.InputNone}
}

func (o outsider) Touches() (r, w []string, ok bool) { return nil, []string{o.File}, true }

func (o outsider) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, afero.WriteFile(c.FS, "b.txt", nil, 0o644)
}

// undocumented has a parameter without a description.
type undocumented struct {
	Word string `json:"word"`
}

func (undocumented) Spec() actions.Spec { return actions.Spec{Name: "undocumented", Summary: "x"} }
func (undocumented) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, nil
}

// The test of an action finds every violation of the contract.
func TestAction_fails(t *testing.T) {
	right := Case{Action: upper{Files: []string{"a.txt"}}, Tree: oneFile, Want: "-- a.txt --\nA\n-- d/b.txt --\nb\n"}
	with := func(change func(c *Case)) Case { c := right; change(&c); return c }
	wrong := func(name string) Case {
		return with(func(c *Case) { c.Action = upper{Files: []string{"a.txt"}, Wrong: name} })
	}
	for name, c := range map[string]struct {
		one   Case
		words []string
	}{
		"another tree": {with(func(c *Case) { c.Want = "" }), []string{"the tree is another"}},
		"an error":     {with(func(c *Case) { c.Error = "why" }), []string{`the run has no error, want "why"`}},
		"another error": {with(func(c *Case) {
			c.Error, c.Want, c.Tree = "why", "", "-- b --\n"
		}), []string{`no "why" in it`}},
		"no error":        {wrong("fails"), []string{"the run has an error"}},
		"valid":           {with(func(c *Case) { c.Invalid = "x" }), []string{"validation finds no problem"}},
		"another problem": {with(func(c *Case) { c.Action, c.Invalid = upper{}, "x" }), []string{"missing_input"}},
		"invalid":         {with(func(c *Case) { c.Action = upper{} }), []string{"the parameters are refused"}},
		"JSON": {with(func(c *Case) {
			c.Action, c.Want = upper{Files: []string{"a.txt"}, Word: "x"}, "-- a.txt\\n --\nA\nx\n-- d/b.txt --\nb\n"
		}), []string{"the tree is another"}},
		"a lazy dry run":       {wrong("dry"), []string{"the dry run has another result"}},
		"a dry run that fails": {wrong("dry fails"), []string{"but the dry run has: "}},
		"goroutines":           {wrong("workers"), []string{"with several goroutines"}},
		"another file": {with(func(c *Case) {
			c.Action, c.Want = upper{Files: []string{"a.txt"}, Wrong: "elsewhere"}, right.Want+"-- elsewhere.txt --\n"
		}), []string{"has written elsewhere.txt, but Touches"}},
		"another step's problem": {with(func(c *Case) {
			c.Action, c.Input, c.Invalid = upper{}, actions.Search{}, "missing_param"
		}), []string{"validation finds the problems", "of the action"}},
		"no end":         {wrong("ends"), []string{"still runs 1ms after its context has ended"}},
		"a panic":        {wrong("panics"), []string{"the action panics when its context has ended: nobody waits"}},
		"another action": {with(func(c *Case) { c.Action = actions.List{} }), []string{`has the action "list"`}},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, func(t testing.TB) {
				(&contract{action: upper{}, name: "upper", patience: time.Millisecond}).test(t, []Case{c.one})
			}, c.words...)
		})
	}
	fails(t, func(t testing.TB) { Action(t, upper{}) }, "has no cases")
	fails(t, func(t testing.TB) {
		Action(t, outsider{}, Case{Action: outsider{File: "a.txt"}, Want: "-- b.txt --\n"})
	}, `the action has written b.txt, but Touches returns ["a.txt"]`)
	passes(t, func(t testing.TB) {
		Action(t, outsider{}, Case{Action: outsider{File: "b.txt"}, Want: "-- b.txt --\n"})
	})
	fails(t, func(t testing.TB) { Action(t, undocumented{}, Case{}) }, "the parameter word has no text")
	fails(t, func(t testing.TB) { Action(t, nil2{}, Case{}) }, "cannot be registered")
	fails(t, func(t testing.TB) { Action(t, unsummed{}, Case{}) }, "cannot be registered", "Summary")
	for mistake, word := range map[string]string{
		"unwritten": "the parameters are refused", "unread": "cannot be read back", "grown": "reads back as another action",
	} {
		fails(t, func(t testing.TB) { Action(t, holder{Word: text(mistake)}, Case{}) }, word)
	}
}

// nil2 has an invalid name.
type nil2 struct{ undocumented }

func (nil2) Spec() actions.Spec { return actions.Spec{Name: "2 words", Summary: "x"} }

// unsummed has no summary.
type unsummed struct{ undocumented }

func (unsummed) Spec() actions.Spec { return actions.Spec{Name: "unsummed"} }

// holder ignores its parameter.
type holder struct {
	Word text `json:"word" doc:"A mistake of the JSON form."`
}

func (holder) Spec() actions.Spec { return actions.Spec{Name: "holder", Summary: "does nothing"} }
func (holder) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, nil
}

// text is a text with a mistake in its JSON form, which its value selects.
type text string

func (t text) MarshalText() ([]byte, error) {
	if t == "unwritten" {
		return nil, errors.New("not in JSON")
	}
	return []byte(t), nil
}

func (t *text) UnmarshalText(b []byte) error {
	if string(b) == "unread" {
		return errors.New("not from JSON")
	}
	*t = text(b) + "+"
	return nil
}
