package form_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// thing has a field of each kind.
type thing struct {
	name  string
	ids   []string
	on    bool
	off   bool
	least *int
	value *int
	inner inner
}

type inner struct{ id string }

func (t *thing) fields(errs form.Errors) form.Fields {
	return form.Fields{
		{Name: "name", Aliases: "title label", Doc: "Its name.", To: &t.name, Always: true, Most: 9},
		{Name: "ids", Kind: form.IDs, To: &t.ids},
		{Name: "on", Kind: form.Flag, To: &t.on},
		{Name: "off", Kind: form.Unless, To: &t.off},
		{Name: "least", Kind: form.Count, To: &t.least},
		{Name: "value", Kind: form.Number, To: &t.value},
		{Name: "inner", Kind: form.Object, To: innerValue{&t.inner, errs}},
	}
}

type innerValue struct {
	*inner
	errs form.Errors
}

func (i innerValue) Fields() form.Fields                { return form.Fields{{Name: "id", Kind: form.ID, To: &i.id}} }
func (i innerValue) Read(n *strictjson.Node, at string) { i.Fields().Read(n, at, i.errs) }

func (i innerValue) Append(dst []byte) ([]byte, error) {
	if i.id == "" {
		return dst, nil
	}
	return i.Fields().Append(dst)
}

// said collects what is wrong.
type said []string

func (s *said) Wrong(n *strictjson.Node, pointer, want string) {
	*s = append(*s, fmt.Sprintf("%s: want %s, got %s", pointer, want, n.Kind))
}
func (s *said) NotWhole(text, pointer string) { *s = append(*s, pointer+": not whole: "+text) }
func (s *said) Unknown(m strictjson.Member, pointer string, fields form.Fields) {
	*s = append(*s, fmt.Sprintf("%s: unknown %s among %d", pointer, m.Name, len(fields)))
}

// What is written is what was read, in the order of the table, and what has its default is left out.
func TestReadAndAppend(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, want string
		said             said
	}{
		{"empty", `{}`, `{"name":""}`, nil},
		{"defaults", `{"off":true,"on":false,"ids":[],"inner":{}}`, `{"name":""}`, nil},
		{
			"all", `{"inner":{"id":"x"},"value":"3.0","least":0,"off":false,"on":true,"ids":["a","b"],"name":"n\u2028<"}`,
			`{"name":"n\u2028<","ids":["a","b"],"on":true,"off":false,"least":0,"value":3,"inner":{"id":"x"}}`, nil,
		},
		{
			"wrong", `{"name":1,"ids":[2,"b"],"on":"true","least":"1","value":1.5,"inner":[],"other":{}}`, `{"name":"","ids":["","b"]}`,
			said{
				"/name: want a string, got number", "/ids/0: want a string, got number", "/on: want true or false, got string",
				"/least: want a whole number, got string", "/value: not whole: 1.5", "/inner: want an object, got list", ": unknown other among 7",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root, err := strictjson.Parse([]byte(test.text), strictjson.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var errs said
			v := new(thing)
			v.fields(&errs).Read(root, "", &errs)
			got, err := v.fields(nil).Append(nil)
			if err != nil || string(got) != test.want {
				t.Errorf("written as %s, %v\nwant %s", got, err, test.want)
			}
			if diff := cmp.Diff(test.said, errs); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSchemaAndMend(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(new(thing).fields(nil).Schema())
	const want = `{"additionalProperties":false,"properties":{` +
		`"ids":{"items":{"$ref":"#/$defs/id"},"type":"array","uniqueItems":true},"inner":{"$ref":"#/$defs/inner"},` +
		`"least":{"minimum":0,"type":"integer"},"name":{"description":"Its name.","maxLength":9,"minLength":1,"type":"string"},` +
		`"off":{"default":true,"type":"boolean"},"on":{"default":false,"type":"boolean"},` +
		`"value":{"anyOf":[{"type":"integer"},{"pattern":"^-?[0-9]+$","type":"string"}]}},"type":"object"}`
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m := new(thing).fields(nil).Mend()
	if name, ok := m.Match("Label"); !ok || name != "name" || m.At("/inner/id") == nil || !m.At("/inner/id").ID {
		t.Errorf("Match = %q, %t, and /inner/id is %+v", name, ok, m.At("/inner/id"))
	}
}
