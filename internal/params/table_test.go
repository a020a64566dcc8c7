package params_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/params"
)

// thing has a field of each kind that tables support.
type thing struct {
	name  string
	ids   []string
	on    bool
	off   bool
	inner bounds
	value *numeral
	list  params.Part
}

type bounds struct {
	Least *int `json:"least,omitempty" param:"count"`
}

type numeral struct {
	Of    string `json:"of,omitempty" param:"id"`
	Value *int   `json:"value,omitempty" param:"quoted"`
}

func (t *thing) table() params.Table {
	t.list.List = true
	return params.Table{
		{Name: "name", Aliases: "title label", Doc: "Its name.", To: &t.name, Always: true, Most: 9},
		{Name: "ids", ID: true, To: &t.ids},
		{Name: "on", To: &t.on},
		{Name: "off", Unless: true, To: &t.off},
		{Name: "inner", To: &t.inner},
		{Name: "value", To: &t.value},
		{Name: "list", To: &t.list, Most: 3, Def: "element"},
	}
}

// A table is written as it was read, in the order of the table, without defaults.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, want string
		problems         []string
	}{
		{"empty", `{}`, `{"name":""}`, nil},
		{"defaults", `{"off":true,"on":false,"ids":[],"inner":{}}`, `{"name":""}`, nil},
		{
			"all", `{"list":[{}],"value":{"value":"3.0","of":"a"},"inner":{"least":0},"off":false,"on":true,"ids":["a","b"],"name":"n\u2028<"}`,
			`{"name":"n\u2028<","ids":["a","b"],"on":true,"off":false,"inner":{"least":0},"value":{"of":"a","value":3},"list":[{}]}`, nil,
		},
		{
			"wrong", `{"name":1,"ids":[2,"b"],"on":"true","off":null,"inner":{"least":"1"},"value":{"value":1.5,"x":0},"list":{},"other":{}}`,
			`{"name":"","ids":["","b"],"value":{}}`,
			[]string{
				`/name wrong_type: 'name' must be a string, got number: write it in quotes: "1"`,
				`/ids/0 wrong_type: '0' must be a string, got number: write it in quotes: "2"`,
				"/on wrong_type: 'on' must be true or false, got string: write it without quotes: true", "/off wrong_type: 'off' must be true or false, got null",
				"/inner/least wrong_type: 'least' must be a whole number, got string: write it without quotes: 1", "/value/value wrong_type: 'value' must be a whole number, got 1.5",
				"/value/x unknown_field: unknown field 'x'", "/list wrong_type: 'list' must be a list of list, got object",
				"/other unknown_field: unknown field 'other'",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := new(thing)
			problems, more := v.table().Read(parse(test.text))
			if diff := cmp.Diff(test.problems, lines(problems)); diff != "" || more != 0 {
				t.Errorf("%d more (-want +got):\n%s", more, diff)
			}
			if v.list.Node != nil {
				v.list.JSON = v.list.Node.AppendJSON(nil)
			}
			if test.name == "wrong" {
				v.value = new(numeral)
				if v.inner.Least != nil {
					t.Error("a wrong bound was accepted")
				}
			}
			got, err := v.table().Append(nil)
			if err != nil || string(got) != test.want {
				t.Errorf("written as %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

// The first thousand problems are kept, and the others are counted.
func TestTableOfManyProblems(t *testing.T) {
	t.Parallel()
	text := []byte(`{"name":"x"`)
	for i := range 1500 {
		text = fmt.Appendf(text, `,"x%d":0`, i)
	}
	problems, more := new(thing).table().Read(parse(string(text) + "}"))
	if len(problems) != 1000 || more != 500 {
		t.Errorf("%d problems and %d more", len(problems), more)
	}
}

func TestTableSchemaAndForm(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(new(thing).table().Schema())
	const want = `{"additionalProperties":false,"properties":{` +
		`"ids":{"items":{"$ref":"#/$defs/id"},"type":"array","uniqueItems":true},` +
		`"inner":{"additionalProperties":false,"properties":{"least":{"minimum":0,"type":"integer"}},"type":"object"},` +
		`"list":{"items":{"$ref":"#/$defs/element"},"maxItems":3,"minItems":1,"type":"array"},` +
		`"name":{"description":"Its name.","maxLength":9,"minLength":1,"type":"string"},` +
		`"off":{"default":true,"type":"boolean"},"on":{"default":false,"type":"boolean"},` +
		`"value":{"additionalProperties":false,"properties":{"of":{"$ref":"#/$defs/id"},` +
		`"value":{"anyOf":[{"type":"integer"},{"pattern":"^-?[0-9]+$","type":"string"}]}},"type":"object"}},"type":"object"}`
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f := new(thing).table().Form()
	if name, ok := f.Match("Label"); !ok || name != "name" || f.At("/value/of") == nil || !f.At("/value/of").ID || !f.At("/ids").Elem.ID {
		t.Errorf("Match = %q, %t, and /value/of is %+v", name, ok, f.At("/value/of"))
	}
}
