package decode_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
)

// TestParamsInParams: parameters within parameters are refused, not dropped. One of them may be a guard.
func TestParamsInParams(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"params", "Params"} {
		text := `{"name":"n","steps":[{"id":"a","action":"delete","params":{"files":["a"],"` + name + `":{"permanent":false}}}]}`
		for _, lenient := range []bool{false, true} {
			_, err := millrace.Decoder{Lenient: lenient}.Decode([]byte(text))
			invalid, ok := err.(*millrace.ValidationError)
			if !ok {
				t.Errorf("%s, lenient %v: error %v", name, lenient, err)
				continue
			}
			var got []string
			for _, p := range invalid.Problems {
				got = append(got, p.Pointer+" "+p.Message)
				if strings.Contains(p.Hint, "beside") {
					t.Errorf("hint %q", p.Hint)
				}
			}
			want := []string{"/steps/0/params/" + name + " delete action has no parameter '" + name + "'"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		}
	}
}
