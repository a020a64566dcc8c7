package mend_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// A mended value has its position in the original text.
func TestOrigin(t *testing.T) {
	for _, text := range []string{
		"Here:\n```json\n{a: 'x\ny', /* c */ \"b\": [True, \"HERE\",],}\n```",
		`{\"a\":\"x\\ny\",\n\"b\":[1,\"HERE\"]}`,
		"\ufeff```\n{“a”: “ü”, \\n'b': [NaN, 'HERE']```",
	} {
		m, err := mend.JSON([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		root, err := strictjson.Parse(m.Text, strictjson.Limits{})
		if err != nil {
			t.Fatalf("%s became %s: %v", text, m.Text, err)
		}
		n := root.Get("b").Elems[1]
		if got, want := m.Origin(n.Offset), strings.Index(text, "HERE"); n.Text != "HERE" || got != want && got != want-1 && got != want-2 {
			t.Errorf("%s: %q is at %d, want it at about %d", text, n.Text, got, want)
		}
		for _, r := range m.Repairs {
			if r.Done == "" || r.Advice == "" || r.Offset < 0 || r.Offset > len(text) {
				t.Errorf("%s: repair %+v", text, r)
			}
		}
	}
}

// For any length of a text, mending takes proportional time.
func TestJSONIsLinear(t *testing.T) {
	n := fstest.Slowed(1<<17, 1<<20)
	for _, piece := range []string{"{", "[", "{a:[", "/*", "//\n", "#\n", `\n`, "'", "”", "“", "```", "},", "{ ", "\\\"", `{\"`, ",\n", "' :", "{\"a\": 1,", `\u12`} {
		for _, text := range []string{strings.Repeat(piece, n/len(piece)), "{" + strings.Repeat(piece, n/len(piece)), `{"a": [` + strings.Repeat(piece, n/len(piece)) + "]}"} {
			m, err := mend.JSON([]byte(text))
			if syntax, ok := errors.AsType[*strictjson.SyntaxError](err); err != nil && (!ok || syntax.Line == 0) {
				t.Fatalf("%.20s: %v", text, err)
			}
			if m != nil && len(m.Text) > 6*len(text) {
				t.Errorf("%.20s: %d bytes became %d", text, len(text), len(m.Text))
			}
		}
	}
}

// A word that is similar to two fields, or meaningless, is not a field. A tree that fits its form is not changed.
func TestFitOfWhatFits(t *testing.T) {
	object := &form.Form{Kind: form.Object, Fields: []form.Field{
		{Name: "text", Form: &form.Form{Kind: form.Text, Enum: []string{"one", "two"}}},
		{Name: "flag", Form: &form.Form{Kind: form.Flag}}, {Name: "any", Form: &form.Form{}},
		{Name: "list", Form: &form.Form{Kind: form.List, Elem: &form.Form{Kind: form.Number}}},
		{Name: "map", Form: &form.Form{Kind: form.Map, Elem: &form.Form{Kind: form.Text}}},
	}}
	const text = `{"map":{"Text":"1","comment":"2"},"flag":false,"any":null,"list":[1,"{{a.count}}"],"text":"two"}`
	root, err := strictjson.Parse([]byte(text), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var f mend.Fitter
	f.Fit(root, object, "")
	if got := string(root.AppendJSON(nil)); got != text || len(f.Changes) > 0 {
		t.Errorf("became %s, %v", got, f.Changes)
	}
}

// FuzzJSON: mending never panics, does not change its own results, and refuses with a position.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"a":1,}`, "```\n{a:'b'}\n```", `{"a":[1,2`, `{\"a\":\"b\"}`, "x {“a”: True} y", `{"a":"\d"}`, "{/*", "{//", "{'a':\"\n\"}", `"{\"a\":1}"`, "{\"a\":{\"b\":[]}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		m, err := mend.JSON(data)
		if !bytes.Equal(before, data) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			if syntax, ok := errors.AsType[*strictjson.SyntaxError](err); !ok || syntax.Line == 0 || syntax.Offset > len(data) {
				t.Fatalf("%q: %#v", data, err)
			}
			return
		}
		root, err := strictjson.Parse(m.Text, strictjson.Limits{})
		if err != nil {
			return
		}
		if _, right := strictjson.Parse(data, strictjson.Limits{}); right != nil && root.Kind == strictjson.Object && len(m.Repairs) == 0 {
			t.Fatalf("%q became %q without a repair", data, m.Text)
		}
		again, err := mend.JSON(m.Text)
		if err != nil {
			t.Fatalf("%q became %q, which is refused: %v", data, m.Text, err)
		}
		if root.Kind == strictjson.Object {
			if diff := cmp.Diff(strings.TrimSpace(string(m.Text)), strings.TrimSpace(string(again.Text))); diff != "" || len(again.Repairs) > 0 {
				t.Fatalf("%q is mended again (-once +twice):\n%s", data, diff)
			}
		}
		check(t, m, root, len(data))
	})
}

func check(t *testing.T, m *mend.Mended, n *strictjson.Node, size int) {
	if at := m.Origin(n.Offset); at < 0 || at > size {
		t.Fatal(fmt.Sprint("a value is at ", at, " of ", size))
	}
	for _, e := range n.Elems {
		check(t, m, e, size)
	}
	for _, e := range n.Members {
		check(t, m, e.Value, size)
	}
}
