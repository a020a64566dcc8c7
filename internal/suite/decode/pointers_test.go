package decode_test

import (
	"context"
	"errors"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// careless has a Validate that leaves out the leading slash of a pointer.
type careless struct {
	Version string `json:"version"`
}

func (careless) Spec() actions.Spec {
	return actions.Spec{Name: "careless", Summary: "A test", Input: actions.InputNone}
}

func (careless) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, nil
}

func (c careless) Validate(check *actions.Check) {
	check.Warnings = append(check.Warnings, actions.Problem{Param: "version", Code: "old", Message: "it is old"})
	if c.Version != "" {
		check.Problemf("version", "bad_version", "", "it is wrong")
		check.Problemf("/version", "bad_version", "", "it is wrong")
		check.Problemf("deep/in", "bad_version", "", "so is this")
		check.Problemf("", "bad_version", "", "all of it is")
	}
}

// TestPointersOfValidate: problems and warnings have pointers, even if the author of an action names a parameter
// without the slash.
func TestPointersOfValidate(t *testing.T) {
	t.Parallel()
	d := millrace.Decoder{Actions: actions.Registry{}.With(careless{})}
	_, err := d.Decode([]byte(`{"name": "n", "steps": [{"id": "a", "action": "careless", "params": {"version": "1"}}]}`))
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		t.Fatal(err)
	}
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.Pointer)
	}
	want := []string{"/steps/0/params/version", "/steps/0/params/deep/in", "/steps/0/params"}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("problems at %q, want %q", got, want)
	}
	p, err := d.Decode([]byte(`{"name": "n", "steps": [{"id": "a", "action": "careless", "params": {}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if w := p.Warnings(); len(w) != 1 || w[0].Pointer != "/steps/0/params/version" {
		t.Errorf("warnings %+v", w)
	}
}
