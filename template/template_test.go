package template_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-go/millrace/template"
)

func TestEscapeDataIsText(t *testing.T) {
	t.Parallel()
	data := map[string]any{"find": []string{"a"}}
	for _, text := range []string{"{{find}}", `\{{find}}`, "{{find[0]}} and {{other}}", "no braces", ""} {
		got, err := template.Resolve(template.EscapeData(text, data), data)
		if err != nil || got != text {
			t.Errorf("%q becomes %q, %v", text, got, err)
		}
	}
}

func TestJoinSeparatesFiles(t *testing.T) {
	t.Parallel()
	if got, want := template.Join([]string{"a,b.txt", "c"}), `a\,b.txt,c`; got != want {
		t.Errorf("the list becomes %q, want %q", got, want)
	}
}

func TestFormatIsCompact(t *testing.T) {
	t.Parallel()
	got, err := template.Format(map[string]any{"b": []any{1, true}, "a": "<"})
	if want := `{"a":"<","b":[1,true]}`; err != nil || got != want {
		t.Errorf("the object becomes %q, %v, want %q", got, err, want)
	}
}

// A tool uses these names to declare the type of its result.
func TestTypes(t *testing.T) {
	t.Parallel()
	var names []string
	for _, typ := range []template.Type{
		template.String, template.Int, template.List, template.Bool, template.Number, template.Object, template.Any,
	} {
		names = append(names, typ.String())
	}
	want := []string{"string", "number", "list", "boolean", "number", "object", "value"}
	if !slices.Equal(names, want) {
		t.Errorf("the types are named %q, want %q", names, want)
	}
}

func ExampleResolve() {
	data := map[string]any{
		"step1": map[string]any{"count": 3, "items": []any{map[string]any{"id": "a1"}}},
	}
	args := map[string]any{"id": "{{step1.items[0].id}}", "n": "{{step1.count}}", "text": "{{step1.count}} left"}
	v, err := template.Resolve(args, data)
	fmt.Println(v, err)

	_, err = template.Resolve("{{step1.items[9].id}}", data)
	fmt.Println(err)
	// Output:
	// map[id:a1 n:3 text:3 left] <nil>
	// template '{{step1.items[9].id}}': 'step1.items' has 1 elements, index 9 is out of range
}
