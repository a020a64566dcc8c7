package tool_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/template"
	"github.com/millrace-go/millrace/tool"
)

type tree struct {
	//lint:ignore U1000 a type that holds itself must not be followed for ever
	*tree
	inner
	Inner inner `json:"inside"`
	Kids  []*tree
	Bytes []byte
	Time  time.Time
	Any   any
	Map   map[string]inner
	Fixed [2]bool
	Skip  int `json:"-"`
	//lint:ignore SA5008 this is how encoding/json gets the name "-"
	Dash int `json:"-,"`
	hid  int
}

type inner struct {
	Name  string `json:"name,omitempty"`
	Inner int    `json:"inside"` // hidden by the outer one
}

// A path is followed through the types in the form that encoding/json writes.
func TestCheckPath(t *testing.T) {
	t.Parallel()
	_ = tree{hid: 1}.hid
	f := tool.Func("f", "", func(context.Context, struct{}) (*tree, error) { return nil, nil })
	open := tool.Func("open", "", func(context.Context, struct{}) (any, error) { return nil, nil })
	s := set(t, f, open)
	key := func(keys ...any) template.Path {
		var p template.Path
		for _, k := range keys {
			switch k := k.(type) {
			case string:
				p = append(p, template.Part{Key: k})
			case int:
				p = append(p, template.Part{Index: k, Indexed: true})
			}
		}
		return p
	}
	for _, test := range []struct {
		path template.Path
		want string
	}{
		{nil, ""}, {key("name"), ""}, {key("inside", "name"), ""}, {key("Kids", -1, "Kids", 3, "name"), ""}, {key("Bytes"), ""}, {key("Time", "x", 3), ""},
		{key("Any", 3, "x"), ""}, {key("Map", "a b", "name"), ""}, {key("Fixed", 1), ""}, {key("-"), ""},
		{key("Skip"), "tool 'f' returns no 'Skip' it has name, inside, Kids, Bytes, Time, Any, Map, Fixed, -"},
		{key("hid"), "tool 'f' returns no 'hid' it has name, inside, Kids, Bytes, Time, Any, Map, Fixed, -"},
		{key("inner"), "tool 'f' returns no 'inner' it has name, inside, Kids, Bytes, Time, Any, Map, Fixed, -"},
		{key("nam"), "tool 'f' returns no 'nam' did you mean 'name'?"},
		{key(0), "tool 'f' returns no '[0]' there it returns an object"},
		{key("inside", 0), "tool 'f' returns no 'inside[0]' there it returns an object"},
		{key("Map", 0), "tool 'f' returns no 'Map[0]' there it returns an object"},
		{key("Kids", "name"), "tool 'f' returns no 'Kids.name' there it returns a list"},
		{key("Bytes", 0), "tool 'f' returns no 'Bytes[0]' there it returns a string"},
		{key("Fixed", 0, "x"), "tool 'f' returns no 'Fixed[0].x' there it returns true or false"},
		{key("Map", "a b", "inside", "x"), `tool 'f' returns no 'Map.a b.inside.x' there it returns a number`},
		{key("name", "x"), "tool 'f' returns no 'name.x' there it returns a string"},
	} {
		p, ok := s.CheckPath("f", test.path)
		got := strings.TrimSpace(p.Message + " " + p.Hint)
		if ok != (test.want == "") || got != test.want {
			t.Errorf("%v: %t, %q, want %q", test.path, ok, got, test.want)
		}
		for _, name := range []string{"open", "gone"} {
			if p, ok := s.CheckPath(name, test.path); !ok || p != (tool.Problem{}) {
				t.Errorf("%s of %s: %+v", test.path, name, p)
			}
		}
	}
}
