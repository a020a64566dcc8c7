package library_test

import (
	"reflect"
	"testing"

	"github.com/millrace-go/millrace"
)

// A method that sets something of the whole pipeline would read as a setting of one step if it were called on a step.
func TestStepBuilderHasNoPipelineMethods(t *testing.T) {
	t.Parallel()
	step := reflect.TypeFor[millrace.StepBuilder]()
	both := map[string]bool{"Step": true, "Add": true, "Include": true, "Build": true, "MustBuild": true}
	for m := range reflect.TypeFor[millrace.Builder]().Methods() {
		if _, ok := step.MethodByName(m.Name); ok != both[m.Name] {
			t.Errorf("StepBuilder has Builder's method %s: %v, want %v", m.Name, ok, both[m.Name])
		}
	}
}
