package suite

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/millrace-go/millrace"
)

// Stored returns the JSON of a plan.
func Stored(t *testing.T, plan *millrace.Plan) []byte {
	t.Helper()
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Is reports whether err contains an error of that type.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// JSON returns a value as JSON.
func JSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
