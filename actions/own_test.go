package actions_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/params"
)

// upper is an action of the host, as short as possible.
type upper struct {
	Files []string `json:"files,omitempty"`
}

func (upper) Spec() actions.Spec {
	return actions.Spec{Name: "upper", Summary: "A test", Input: actions.InputFiles}
}

func (upper) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return c.EditEach(ctx, func(_ string, old []byte) ([]byte, error) {
		for i, b := range old { // in place, but other readers must not see it
			if b == '!' {
				return nil, errors.New("no shouting")
			}
			old[i] = bytes.ToUpper([]byte{b})[0]
		}
		return old, nil
	})
}

func TestEditEach(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			tree := files{"a": "one", "b": "TWO", "c": "three"}
			if name == "root" {
				tree["link@"] = "a"
			}
			b := newBench(t, base(t), tree)
			names := []string{"a", "b", "c"}
			if name == "root" {
				names = append(names, "link")
			}
			out := b.must("s", upper{}, names)
			equal(t, "outcome", out, actions.Outcome{Files: []string{"a", "c"}, Counts: map[string]int{"a": 1, "c": 1}, Edits: 2})
			tree["a"], tree["c"] = "ONE", "THREE"
			b.wantTree(tree)
			changes, err := b.stage.Changes()
			if err != nil || len(changes) != 2 {
				t.Errorf("changes %v, %v", changes, err)
			}
			if data, err := b.stage.Base().Open("a"); err == nil {
				text := make([]byte, 3)
				_, _ = data.Read(text)
				_ = data.Close()
				if string(text) != "one" {
					t.Errorf("the base has %q", text)
				}
			}
		})
	}
}

// doubled doubles each letter o of the files, with one splice for each.
type doubled struct{ upper }

func (doubled) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return c.EditSplices(ctx, func(_ string, old []byte) (all []change.Splice, err error) {
		for i, b := range old {
			switch b {
			case '!':
				return nil, errors.New("no shouting")
			case 'o':
				all = append(all, change.Splice{Off: int64(i), Len: 1, Text: []byte("oo"), By: []change.Origin{{Step: c.Step, Edit: 7}}})
			}
		}
		return all, nil
	})
}

func TestEditSplices(t *testing.T) {
	b := inMemory(t, files{"a": "one two", "b": "THREE", "c": "four"})
	out := b.must("s", doubled{}, []string{"a", "b", "c"})
	equal(t, "outcome", out, actions.Outcome{Files: []string{"a", "c"}, Counts: map[string]int{"a": 2, "c": 1}, Edits: 3})
	b.wantTree(files{"a": "oone twoo", "b": "THREE", "c": "foour"})
	changes, err := b.stage.Changes()
	if err != nil || len(changes) != 2 || len(changes[0].Splices) != 2 || changes[0].Splices[1].By[0].Edit != 7 {
		t.Errorf("changes %v, %v", changes, err)
	}
	_, err = b.run("s", doubled{}, []string{"gone"})
	wantError(t, err, "gone: file does not exist")
	b = inMemory(t, files{"a": "o!", "b": "ooo"})
	_, err = b.run("s", doubled{}, []string{"a"})
	wantError(t, err, "a: no shouting")
	for _, limits := range []actions.Limits{{MaxMatches: 2}, {MaxOutputBytes: 5}, {MaxStagedBytes: 600}, {MaxFileBytes: 2}} {
		c := &actions.Call{FS: (*fsutil.Stage)(b.stage), Files: []string{"b"}, Limits: limits}
		if _, err = (doubled{}).Run(t.Context(), c); err == nil {
			t.Errorf("%+v: the splices are taken", limits)
		} else if _, ok := errors.AsType[*actions.LimitError](err); !ok {
			t.Errorf("%+v: error %v is not a *LimitError", limits, err)
		}
	}
	b.wantTree(files{"a": "o!", "b": "ooo"})
}

func TestEditEachErrors(t *testing.T) {
	tree := files{"a": "one", "b": "two!", "c": "three!", "d": strings.Repeat("x", 100)}
	b := inMemory(t, tree)
	_, err := b.run("s", upper{}, []string{"a", "b", "c"})
	wantError(t, err, "b: no shouting")
	_, err = b.run("s", upper{}, []string{"gone"})
	wantError(t, err, "gone: file does not exist")
	c := &actions.Call{FS: (*fsutil.Stage)(b.stage), Files: []string{"d"}, Limits: actions.Limits{MaxOutputBytes: 99}}
	_, err = upper{}.Run(t.Context(), c)
	if limit, ok := errors.AsType[*actions.LimitError](err); !ok || limit.Limit != 99 {
		t.Errorf("error %v is no *LimitError of 99 bytes", err)
	}
}

func TestWriteFiles(t *testing.T) {
	b := inMemory(t, files{"same": "1\n", "other": "old\n", "not": "named\n"})
	out := b.must("s", actions.WriteFiles(map[string]string{"same": "1\n", "other": "new\n", "deep/made": "text", "empty": ""}), nil)
	b.wantTree(files{"same": "1\n", "other": "new\n", "deep/made": "text", "empty": "", "not": "named\n"})
	equal(t, "files", out.Files, []string{"deep/made", "empty", "other", "same"})
	b.wantWarning("same: the edits change nothing")
}

type nameless struct{ upper }

func (nameless) Spec() actions.Spec { return actions.Spec{} }

type odd struct {
	upper
	Do func() `json:"do"`
}

func (odd) Spec() actions.Spec { return actions.Spec{Name: "odd", Summary: "A test"} }

// TestRegistryMistakes: Err reports a value that cannot be an action, and the registry does not have it.
func TestRegistryMistakes(t *testing.T) {
	for _, wrong := range []actions.Action{nil, nameless{}, odd{}} {
		r := actions.Builtin().With(upper{}, wrong)
		if r.Err() == nil {
			t.Errorf("%T was taken", wrong)
		}
		if got := len(r.Names()) - len(actions.Builtin().Names()); got != 1 {
			t.Errorf("%T: %d new actions", wrong, got)
		}
	}
	if err := actions.Builtin().With(upper{}).Err(); err != nil {
		t.Error(err)
	}
}

// plain is an action without parameters, for tests that add Specs and fields.
type plain struct{}

func (plain) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, nil
}

type named struct {
	plain
	spec actions.Spec
}

func (n named) Spec() actions.Spec { return n.spec }

// own is an action with a field of a custom type.
type own[T any] struct {
	plain
	Of T `json:"of"`
}

func (own[T]) Spec() actions.Spec { return actions.Spec{Name: "own", Summary: "A test"} }

// TestRegistryErr: Err reports each mistake that would otherwise show up late, or never. Its message names the action
// and the change to make.
func TestRegistryErr(t *testing.T) {
	spec := func(name string) actions.Action { return named{spec: actions.Spec{Name: name, Summary: "A test"}} }
	for _, test := range []struct {
		action actions.Action
		want   string // "" for an action that can be used
	}{
		{spec("fine"), ""},
		{spec("a.b-c_9"), ""},
		{spec("two words"), "its name must be letters"},
		{spec("9lives"), "its name must be letters"},
		{spec("a=b"), "its name must be letters"},
		{spec("a/b"), "its name must be letters"},
		{spec("größe"), "its name must be letters"},
		{spec("then"), "not 'then'"},
		{spec("line\n"), "its name must be letters"},
		{named{spec: actions.Spec{Name: "silent"}}, `action "silent": its Spec has no Summary`},
		{own[struct {
			A string `param:"requierd"`
		}]{}, `action "own": field Of: field A: param tag has the word "requierd"`},
		{own[struct {
			A string `param:"required,required"`
		}]{}, "twice"},
		{own[struct {
			A string `param:"empty"`
		}]{}, "only after required"},
		{own[struct {
			A string `param:"nonzero"`
		}]{}, "only a whole number"},
		{own[struct {
			A int `enum:"1,2"`
		}]{}, "only strings"},
		{own[struct {
			A []bool `enum:"true"`
		}]{}, "only strings"},
		{own[struct {
			A string `enum:"a,,b"`
		}]{}, "empty value"},
		{own[struct {
			plainNames
			B string `json:"a"`
		}]{}, `field B: another field has the name "a" in JSON too`},
		{own[struct {
			A string `json:"-" param:"required"`
		}]{}, "is not a parameter"},
		{own[[]struct {
			F func()
		}]{}, "JSON has no values of"},
		{own[map[string]*struct {
			A string   `json:"a" param:"required" enum:"x,y" doc:"It."`
			B []string `json:"b,omitempty" enum:"x" param:"required,single"`
			C int      `json:"c" param:"nonzero,quoted"`
			D time.Time
			E any
		}]{}, ""},
		{&own[string]{}, ""},
	} {
		err := actions.Registry{}.With(test.action).Err()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%T %q: %v, want %q", test.action, test.action.Spec().Name, err, test.want)
		}
		// The reader of pipelines agrees: it can describe all accepted actions.
		if _, described := params.Describe(test.action); err == nil && described != nil {
			t.Errorf("%T: the registry takes it, and it cannot be described: %v", test.action, described)
		}
	}
	if err := actions.Builtin().Err(); err != nil {
		t.Error(err)
	}
}

// plainNames is embedded in other structs.
type plainNames struct {
	A string `json:"a"`
}

// marked is an action that is a pointer, with a default.
type marked struct {
	upper
	Mark string `json:"mark,omitempty"`
}

func (*marked) Spec() actions.Spec { return actions.Spec{Name: "marked", Summary: "A test"} }

// A field set in a prototype after its registration does not change the default.
func TestRegistryOwnsItsPrototypes(t *testing.T) {
	p := &marked{Mark: "!"}
	r := actions.Registry{}.With(p)
	p.Mark = "?"
	if got, ok := r.Lookup("marked"); !ok || got.(*marked).Mark != "!" {
		t.Errorf("the default became %+v", got)
	}
}
