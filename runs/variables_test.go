package runs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/runs"
)

// declaring returns pipeline p with these variables.
func declaring(t *testing.T, variables ...millrace.Variable) millrace.Pipeline {
	t.Helper()
	p, err := millrace.New("p").Variables(variables...).Step("a", actions.Fail{Message: "m"}).Build()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func everyType(t *testing.T) millrace.Pipeline {
	return declaring(t,
		millrace.Variable{Name: "name", Type: "string"}, millrace.Variable{Name: "limit", Type: "integer"}, millrace.Variable{Name: "part", Type: "number"},
		millrace.Variable{Name: "deep", Type: "boolean"}, millrace.Variable{Name: "hosts", Type: "list"}, millrace.Variable{Name: "map", Type: "object"},
		millrace.Variable{Name: "level", Type: "string", Enum: []any{"low", "high"}},
	)
}

func TestWithVariables(t *testing.T) {
	tests := []struct {
		key, value string
		want       any
	}{
		{"name", "ten", "ten"}, {"name", "", ""}, {"name", "10", "10"}, {"name", `"x"`, `"x"`}, {"name", "{{vars.limit}}", "{{vars.limit}}"},
		{"limit", "10", int64(10)}, {"limit", "-0", int64(0)}, {"limit", "1e2", int64(100)}, {"limit", " 7 ", int64(7)},
		{"part", "0.5", 0.5}, {"part", "3", int64(3)},
		{"deep", "true", true}, {"deep", "false", false},
		{"hosts", `["a", 1, null]`, []any{"a", int64(1), nil}}, {"hosts", "[]", []any{}},
		{"map", `{"a": {"b": 1.5}}`, map[string]any{"a": map[string]any{"b": 1.5}}},
		{"level", "low", "low"},
	}
	for _, tt := range tests {
		p, err := runs.WithVariables(everyType(t), []runs.Variable{{Key: tt.key, Value: tt.value}}, nil)
		if err != nil {
			t.Errorf("%s %q: %v", tt.key, tt.value, err)
			continue
		}
		for _, v := range p.Variables() {
			want := any(nil)
			if v.Name == tt.key {
				want = tt.want
			}
			if diff := cmp.Diff(want, v.Default); diff != "" {
				t.Errorf("%s %q: %s (-want +got):\n%s", tt.key, tt.value, v.Name, diff)
			}
		}
	}
}

func TestWithVariablesRefused(t *testing.T) {
	one := func(key, value string) []runs.Variable { return []runs.Variable{{Key: key, Value: value}} }
	tests := []struct {
		given []runs.Variable
		want  string // pointer and error
	}{
		{one("limit", "ten"), `/variables/0/value variable 'limit': "ten" is no integer`},
		{one("limit", ""), `/variables/0/value variable 'limit': "" is no integer`},
		{one("limit", "1.5"), `/variables/0/value variable 'limit': "1.5" is no integer`},
		{one("limit", `"10"`), `/variables/0/value variable 'limit': ""10"" is no integer`},
		{one("limit", "null"), `/variables/0/value variable 'limit': "null" is no integer`},
		{one("limit", "10 11"), `/variables/0/value variable 'limit': "10 11" is no integer`},
		{one("limit", "99999999999999999999"), `/variables/0/value variable 'limit': "99999999999999999999" is no integer`},
		{one("part", "half"), `/variables/0/value variable 'part': "half" is no number`},
		{one("part", "NaN"), `/variables/0/value variable 'part': "NaN" is no number`},
		{one("deep", "True"), `/variables/0/value variable 'deep': "True" is no boolean: write true or false`},
		{one("hosts", "a,b"), `/variables/0/value variable 'hosts': "a,b" is no list: write a list in JSON, as ["a", "b"]`},
		{one("hosts", "{}"), `/variables/0/value variable 'hosts': "{}" is no list: write a list in JSON, as ["a", "b"]`},
		{one("map", "[]"), `/variables/0/value variable 'map': "[]" is no object: write an object in JSON, as {"a": 1}`},
		{one("map", `{"a":1,"a":2}`), `/variables/0/value variable 'map': "{"a":1,"a":2}" is no object: write an object in JSON, as {"a": 1}`},
		{one("level", "mid"), `/variables/0/value variable 'level' must be 'low' or 'high', got 'mid'`},
		{one("lmit", "1"), `/variables/0/key variable 'lmit' is not declared by pipeline 'p' (declared: deep, hosts, level, limit, map, name, part): did you mean 'limit'?`},
		{[]runs.Variable{{Key: "limit", Value: "1"}, {Key: "limit", Value: "1"}}, `/variables/1/key variable 'limit' is given twice`},
		{[]runs.Variable{{Key: "limit", Value: "1", Type: "x"}}, `/variables/0/variable_type variables[0].variable_type 'x' is not one of env_var, file`},
		{[]runs.Variable{{Key: "limit", Value: "1", Type: runs.File}}, `/variables/0/variable_type variable 'limit': the path of a file is a string, and the pipeline declares 'integer'`},
		{[]runs.Variable{{Key: "name", Value: "1", Type: runs.File}}, `/variables/0/variable_type variable 'name': there are no files here`},
		{one("", "1"), `/variables/0/key 'variables[0].key' must not be empty`},
		{one("name", strings.Repeat("x", 64<<10+1)), `/variables/0/value variable 'name' has 65537 bytes, at most 65536 are allowed`},
		{make([]runs.Variable, 101), `/variables variables has 101 entries, at most 100 are allowed`},
		{append(one("limit", "ten"), runs.Variable{Key: "part", Value: "half"}), "/variables/0/value 2 problems:\n" +
			"  - variable 'limit': \"ten\" is no integer\n  - variable 'part': \"half\" is no number"},
	}
	for _, tt := range tests {
		_, err := runs.WithVariables(everyType(t), tt.given, nil)
		refused, ok := errors.AsType[*runs.ArgsError](err)
		if !ok {
			t.Errorf("%.100v: %v", tt.given, err)
			continue
		}
		if got := refused.Problems[0].Pointer + " " + err.Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	_, err := runs.WithVariables(declaring(t), one("a", "b"), nil)
	if err == nil || err.Error() != "variable 'a' is not declared by pipeline 'p' (it declares none)" {
		t.Error(err)
	}
	if _, err := runs.WithVariables(everyType(t), one("name", "a\xff"), nil); err == nil {
		t.Error("a value that is no UTF-8 is taken")
	}
}

// A file is made after all checks have passed, and its path is the value.
func TestFileVariables(t *testing.T) {
	var made []runs.Variable
	file := func(v runs.Variable) (string, error) {
		made = append(made, v)
		return "/shared/" + v.Key, nil
	}
	given := []runs.Variable{{Key: "name", Value: "content", Type: runs.File}, {Key: "limit", Value: "ten"}}
	if _, err := runs.WithVariables(everyType(t), given, file); err == nil || made != nil {
		t.Errorf("made %v beside %v", made, err)
	}
	given[1].Value = "10"
	p, err := runs.WithVariables(everyType(t), given, file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(given[:1], made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	for _, v := range p.Variables() {
		if v.Name == "name" && v.Default != "/shared/name" || v.Name == "limit" && v.Default != int64(10) {
			t.Errorf("%s is %v", v.Name, v.Default)
		}
	}
	full := errors.New("disk is full")
	_, err = runs.WithVariables(everyType(t), given, func(runs.Variable) (string, error) { return "", full })
	if !errors.Is(err, full) || err.Error() != "file of variable 'name': disk is full" {
		t.Error(err)
	}
}
