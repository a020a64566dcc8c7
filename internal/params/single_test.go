package params_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-go/millrace/internal/params"
)

type single struct {
	List []string `json:"list" param:"required,single"`
}

func decodeSingle(text string) (any, []params.Problem) {
	v, _, problems := params.Decode(single{}, parse(text), "try", isTemplate)
	return v, problems
}

// A string is accepted as a list of one element, even with a template in it; it is always written as a list.
func TestSingle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		json    string
		want    []string
		problem string
	}{
		{`{"list":"a"}`, []string{"a"}, ""},
		{`{"list":["a"]}`, []string{"a"}, ""},
		{`{"list":["a","b"]}`, []string{"a", "b"}, ""},
		{`{"list":"s/{{x.y}}/b/"}`, []string{"s/{{x.y}}/b/"}, ""},
		{`{"list":""}`, nil, "empty"},
		{`{"list":[]}`, nil, "empty"},
		{`{"list":1}`, nil, "list"},
		{`{}`, nil, "required"},
	} {
		got, problems := decodeSingle(test.json)
		if (len(problems) > 0) != (test.problem != "") {
			t.Errorf("%s: problems %v", test.json, problems)
			continue
		}
		if v, ok := got.(single); len(problems) == 0 && (!ok || !slices.Equal(v.List, test.want)) {
			t.Errorf("%s: %v", test.json, got)
		}
	}
	schema := fmt.Sprint(params.Schema(single{})["properties"])
	if want := "map[list:map[anyOf:[map[items:map[type:string] minItems:1 type:array] map[minLength:1 type:string]]]]"; schema != want {
		t.Errorf("schema %s", schema)
	}
}
