package lenient_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/lenient"
	"github.com/millrace-go/millrace/internal/strictjson"
)

func text(names ...string) []form.Field {
	fields := make([]form.Field, len(names))
	for i, name := range names {
		fields[i] = form.Field{Name: name, Form: &form.Form{Kind: form.Text}}
	}
	return fields
}

// forms returns the forms of pipelines with one action.
func forms() *lenient.Forms {
	flag := form.Field{Name: "dry_run", Aliases: "preview", Form: &form.Form{Kind: form.Flag}}
	object := &form.Form{Kind: form.Object}
	params := &form.Form{Kind: form.Object, Fields: append(text("pattern"), form.Field{Name: "depth", Form: &form.Form{Kind: form.Number}})}
	return &lenient.Forms{
		Pipeline: &form.Form{Kind: form.Object, Fields: append(text("name"), flag, form.Field{Name: "steps", Form: &form.Form{Kind: form.List, Elem: object}})},
		Step: &form.Form{Kind: form.Object, Fields: append(text("id", "action", "input_from"),
			form.Field{Name: "input_from_all", Form: &form.Form{Kind: form.List, Elem: &form.Form{Kind: form.Text, ID: true}}},
			form.Field{Name: "condition", Form: object}, form.Field{Name: "expect", Form: object}, form.Field{Name: "params", Aliases: "args", Form: object})},
		Actions: []string{"search"},
		Params: func(action string) *form.Form {
			if action != "search" {
				return nil
			}
			return params
		},
		MostSteps: 3,
	}
}

// A repaired pipeline has the intended meaning. A pipeline with two possible meanings is refused and not changed.
func TestRepair(t *testing.T) {
	t.Parallel()
	const whole = `{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":"x"}}]}`
	for _, test := range []struct {
		name, text, want string
		changes, refused int
	}{
		{"right", whole, whole, 0, 0},
		{"in a string", `"{\"name\":\"p\"}"`, `{"name":"p"}`, 1, 0},
		{"alone in a list", "[" + whole + "]", whole, 1, 0},
		{"wrapped", `{"pipeline":` + whole + `}`, whole, 1, 0},
		{"wrapped in a call", `{"tool":"edit","arguments":` + whole + `}`, whole, 2, 0},
		{"an option beside it", `{"pipeline":` + whole + `,"dry_run":true}`, whole[:len(whole)-1] + `,"dry_run":true}`, 1, 0},
		{"an option beside it that differs", `{"pipeline":{"name":"p","dry_run":false},"dry_run":true}`, `{"name":"p","dry_run":false}`, 1, 1},
		{"parameters in the step", `{"name":"p","steps":[{"id":"a","action":"search","pattern":"x"}]}`, whole, 1, 0},
		{"no id", `{"steps":[{"action":"search"}]}`, `{"steps":[{"action":"search","id":"step-0"}]}`, 1, 0},
		{"a list of inputs", `{"steps":[{"id":"a","action":"search","input_from":["b","c"]}]}`, `{"steps":[{"id":"a","action":"search","input_from_all":["b","c"]}]}`, 1, 0},
		{
			"a dry run of a step", `{"steps":[{"id":"a","action":"search","preview":"yes"}]}`,
			`{"steps":[{"id":"a","action":"search"}],"dry_run":true}`, 2, 0,
		},
		{
			"a condition among the parameters", `{"steps":[{"id":"a","action":"search","params":{"condition":{},"depth":"3"}}]}`,
			`{"steps":[{"id":"a","action":"search","params":{"depth":3},"condition":{}}]}`, 2, 0,
		},
		{"an action that is misspelt", `{"steps":[{"id":"a","action":"serach"}]}`, `{"steps":[{"id":"a","action":"search"}]}`, 1, 0},
		{"an action that is unknown", `{"steps":[{"id":"a","action":"explode","x":1}]}`, `{"steps":[{"id":"a","action":"explode","x":1}]}`, 0, 0},
		{"too many steps", `{"steps":[{},{},{},{}]}`, `{"steps":[{},{},{},{}]}`, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root, err := strictjson.Parse([]byte(test.text), strictjson.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			fitter := forms().Repair(root)
			refused := 0
			for _, c := range fitter.Changes {
				if c.Refused {
					refused++
				}
			}
			if got := string(root.AppendJSON(nil)); got != test.want || len(fitter.Changes)-refused != test.changes || refused != test.refused {
				t.Errorf("became %s\nwant   %s\nby %+v", got, test.want, fitter.Changes)
			}
		})
	}
}

// A hint has the position where a name belongs, and the position of the name.
func TestHints(t *testing.T) {
	t.Parallel()
	f := forms()
	params := f.Params("search")
	for _, test := range []struct {
		name      string
		got, want lenient.Hint
	}{
		{"misspelt", lenient.Meant(params, "patern", "/p"), lenient.Hint{Text: "did you mean 'pattern'?", At: "/p/pattern"}},
		{"an alias", lenient.Unknown(f.Step, "/args", "/steps/0"), lenient.Hint{Text: "did you mean 'params'?", At: "/steps/0/params"}},
		{"far from all", lenient.Unknown(params, "/zzz", ""), lenient.Hint{Text: "the fields are pattern, depth"}},
		{"within an unknown value", lenient.Unknown(params, "/zzz/x", ""), lenient.Hint{}},
		{"a parameter in the step", f.Misplaced("pattern", "/steps/0", params), lenient.Hint{Text: "put 'pattern' into 'params'", At: "/steps/0/params/pattern"}},
		{
			"a field of the step among the parameters", f.UnknownParam("/expect", "/steps/0", params),
			lenient.Hint{Text: "put 'expect' beside 'params', into the step", At: "/steps/0/expect"},
		},
		{
			"an option in the step", f.Misplaced("dryRun", "/steps/0", params),
			lenient.Hint{Text: "put 'dry_run' into the pipeline, it is for all steps"},
		},
	} {
		if test.got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, test.got, test.want)
		}
	}
}

// The error of an unreadable text has the right spelling, and a mendable text is mended if that is allowed.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, mayMend := range []bool{false, true} {
		s, err := lenient.Read([]byte(`{"name": "p",}`), strictjson.Limits{}, mayMend)
		switch {
		case mayMend && (err != nil || s.Mended == nil || s.Root.Get("name") == nil):
			t.Errorf("mended: %+v, %v", s, err)
		case !mayMend && (err == nil || err.Hint != "leave out the comma before the closing bracket"):
			t.Errorf("not mended: %+v", err)
		}
	}
	if _, err := lenient.Read([]byte(`{"a":1} {"b":2}`), strictjson.Limits{}, true); err == nil || err.Offset == 0 {
		t.Errorf("two objects: %+v", err)
	}
	root, _ := strictjson.Parse([]byte(`{"a":[{"b":1}]}`), strictjson.Limits{})
	if n := lenient.NodeAt(root, "/a/0/c/d"); n.Get("b") == nil {
		t.Errorf("the last value on the way is %+v", n)
	}
}

// Each value and each name has its pointer by its offset. Offsets between them have the pointer of the enclosing value.
func TestPointerAt(t *testing.T) {
	t.Parallel()
	const text = ` {"a/b": [1, {"c": ""} ], "d": {}, "e": [] }`
	root, err := strictjson.Parse([]byte(text), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		`{"a/b`: " false", `"a/b`: "/a~1b true", `[1`: "/a~1b false", `1`: "/a~1b/0 false", `, {`: "/a~1b false", `{"c`: "/a~1b/1 false",
		`"c`: "/a~1b/1/c true", `""`: "/a~1b/1/c false", ` ]`: "/a~1b false", `, "d`: " false", `{}`: "/d false", `[] }`: "/e false", ` }`: " false",
	} {
		pointer, name := lenient.PointerAt(root, strings.Index(text, at))
		if got := fmt.Sprintf("%s %t", pointer, name); got != want {
			t.Errorf("%s is at %s, want %s", at, got, want)
		}
	}
	for _, outside := range []int{0, len(text)} {
		if got, _ := lenient.PointerAt(root, outside); got != "" {
			t.Errorf("%d is at %s", outside, got)
		}
	}
}
