package exact_test

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/exact"
)

func genText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := ""
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			text += rapid.SampledFrom([]string{"a", "ff", "\xff", "\xc3", "ü", "\uFDD0", "\uFDD0ff", "\uFFFD", "", "\xed\xa0\x80"}).Draw(t, "part")
		}
		return text
	})
}

func TestThereAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := genText().Draw(r, "text")
		escaped := exact.Escape(text)
		if !utf8.ValidString(escaped) {
			r.Fatalf("%q becomes %q", text, escaped)
		}
		if got := exact.Unescape(escaped); got != text {
			r.Fatalf("%q becomes %q, and %q", text, escaped, got)
		}
		if foreign := genText().Draw(r, "foreign"); len(exact.Unescape(foreign)) > len(foreign) {
			r.Fatalf("%q grows", foreign)
		}
	})
	if got := exact.Escape("plain ü"); got != "plain ü" {
		t.Errorf("%q", got)
	}
}

type value struct {
	Text  string
	List  []string
	Keys  map[string]*int
	Any   any
	Inner *value
	When  time.Duration
	Nil   any
	plain string
}

func TestMap(t *testing.T) {
	t.Parallel()
	one := 1
	v := value{
		Text: "\xff", List: []string{"a", "\xfe"}, Keys: map[string]*int{"\xff": &one, "b": nil}, When: 3, plain: "p",
		Any: map[string]any{"k\xff": []any{"\xff", int64(1 << 53), true, nil}}, Inner: &value{Text: "in\xff", List: []string{}},
	}
	data, err := json.Marshal(exact.Map(v, exact.Escape))
	if err != nil {
		t.Fatal(err)
	}
	var read value
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	got := exact.Map(read, exact.Unescape)
	want := v
	want.plain = ""
	want.Any = map[string]any{"k\xff": []any{"\xff", float64(1 << 53), true, nil}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(value{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if exact.Survives(v) || !exact.Survives(exact.Map(value{Text: "ü", Inner: &value{}, Any: []any{"a"}}, func(text string) string { return text })) {
		t.Error("a value that JSON changes is not noticed")
	}
	for _, v := range []any{"\xff", []string{"\xff"}, map[string]int{"\xff": 1}, map[string]any{"a": []any{"\uFDD0"}}, &value{Keys: map[string]*int{"\xff": nil}}} {
		if exact.Survives(v) {
			t.Errorf("JSON keeps %q unchanged", v)
		}
	}
	if v.Text != "\xff" || v.List[1] != "\xfe" {
		t.Errorf("the value itself has changed: %+v", v)
	}
}
