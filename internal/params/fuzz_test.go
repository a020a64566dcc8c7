package params_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// If Decode accepts a text, Check accepts the value, Encode writes it, and Decode reads it again. Each refusal has a
// reason and a position.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"pattern":"x"}`, `{}`, `[]`, `{"pattern":"{{a.b}}","line":"{{a.b}}","files":["{{a.b}}"],"numbers":["{{a.b}}",1]}`,
		`{"pattern":"x","opt":{"start":1},"more":{"start":"{{a.b}}"},"ranges":[{"start":2,"end":0}],"limit":0,"title":""}`,
		`{"pattern":"x","edits":[{"old_text":"a","new_text":"","kind":"all"}],"vars":{"":""},"weights":{"~/":1e-7},"table":{"t":{"start":1}}}`,
		`{"pattern":"x","timeout":5,"level":"low","levels":["high","{{a.b}}"],"since":"2025-05-11T10:15:30.5+02:00","extra":{"a":[null]}}`,
		`{"pattern":"x","small":-128,"count":65535,"big":18446744073709551615,"ratio":"{{a.b}}","rough":3.4e38,"matrix":[["a"],[]],"Plain":"\u0000"}`,
		`{"patern":1,"pattern":"","mode":"x","line":1.5,"small":1000,"files":null}`,
	} {
		f.Add([]byte(text))
	}
	proto := kitchen{Small: 3, Numbers: []int{1}, Weights: map[mode]float64{"w": 1}, Plain: "p", Level: 1}
	untouched := params.Clone(proto)
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := strictjson.Parse(text, strictjson.Limits{})
		if err != nil {
			return
		}
		v, binds, problems := params.Decode(proto, n, "try", isTemplate)
		if !equal(proto, untouched) {
			t.Fatal("the prototype was modified")
		}
		for _, p := range problems {
			if p.Code == "" || p.Message == "" || p.Offset < 0 || p.Offset >= len(text) {
				t.Fatalf("no good problem: %+v", p)
			}
		}
		if len(problems) > 0 {
			return
		}
		if problems := params.Check("try", v, binds, isTemplate); problems != nil {
			t.Fatalf("check: %v", lines(problems))
		}
		data, err := params.Encode(v, nil, binds)
		if err != nil {
			t.Fatal(err)
		}
		again, bindsAgain, problems := params.Decode(proto, parse(string(data)), "try", isTemplate)
		if len(problems) > 0 || !equal(v, again) || len(binds) != len(bindsAgain) {
			t.Fatalf("changed on the way: %v\n%s\n%s", lines(problems), text, data)
		}
	})
}
