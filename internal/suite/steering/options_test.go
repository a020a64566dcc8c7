package steering_test

import (
	"encoding/json"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Options never make a pipeline invalid: a pipeline with jumps stays in sequence.
func TestWithOptions_jumps(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Step("a", actions.Search{Pattern: "x"}).Next("c").
		Step("b", actions.Search{Pattern: "x"}).Step("c", actions.Search{Pattern: "x"}).MustBuild().
		WithOptions(millrace.Options{Parallel: true, Force: true})
	if want := (millrace.Options{Force: true}); p.Options() != want {
		t.Errorf("options %+v, want %+v", p.Options(), want)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := millrace.Decode(text); err != nil || !again.Equal(p) {
		t.Errorf("%v, %s", err, text)
	}
}
