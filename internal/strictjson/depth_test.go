package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// CheckDepth, which looks only at the brackets and strings of JSON, finds the same depth as Parse.
func TestCheckDepth(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":[`, n) + "0" + strings.Repeat("]}", n) }
	texts := append([]string{
		deep(1), deep(3), deep(50), `["[[[[","\"[[[","\\",[[]]]`, `{"{{{":[{"]]]":{}}]}`, `["\\\"{",{"\\":[[1]]}]`, `[[],[],[[],[]]]`,
	}, accepted...)
	for _, text := range texts {
		for most := 1; most < 8; most++ {
			_, parsed := strictjson.Parse([]byte(text), strictjson.Limits{MaxDepth: most})
			objects, err := strictjson.CheckDepth([]byte(text), most)
			if (err == nil) != (parsed == nil) {
				t.Fatalf("%s, at most %d deep: %v, but Parse returns %v", text, most, err, parsed)
			}
			if err != nil {
				if !errors.Is(err, strictjson.ErrTooDeep) || err.Error() != parsed.Error() {
					t.Errorf("%s: %v, but Parse returns %v", text, err, parsed)
				}
				continue
			}
			n, _ := strictjson.Parse([]byte(text), strictjson.Limits{MaxDepth: most})
			if want := countObjects(n); objects != want {
				t.Errorf("%s: %d objects, want %d", text, objects, want)
			}
		}
	}
	for _, text := range []string{"", `"`, `"\`, `"\"`, `]]]]`, "\xff[", `{`} {
		if _, err := strictjson.CheckDepth([]byte(text), 1); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := strictjson.CheckDepth([]byte(strings.Repeat("]", 9)+"[["), 1); err != nil {
		t.Errorf("more closed than opened, which only the parser reports: %v", err)
	}
	for most, depth := range map[int]int{0: 100, -1: 100, 1 << 30: 10_000} {
		_, at := strictjson.CheckDepth([]byte(strings.Repeat("[", depth)), most)
		_, beyond := strictjson.CheckDepth([]byte(strings.Repeat("[", depth+1)), most)
		if at != nil || !errors.Is(beyond, strictjson.ErrTooDeep) {
			t.Errorf("limit %d: %v at %d, %v beyond", most, at, depth, beyond)
		}
	}
}

func countObjects(n *strictjson.Node) int {
	count := 0
	if n.Kind == strictjson.Object {
		count++
	}
	for _, e := range n.Elems {
		count += countObjects(e)
	}
	for _, m := range n.Members {
		count += countObjects(m.Value)
	}
	return count
}
