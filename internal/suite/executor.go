package suite

import (
	"reflect"

	"github.com/millrace-go/millrace"
)

// ExecutorFields returns the names of all fields of an Executor. A field that groups others, such as State, is replaced
// by its fields: State.Dir.
func ExecutorFields() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[millrace.Executor]()) {
		if f.Name != "Limits" && f.Name != "State" {
			names = append(names, f.Name)
			continue
		}
		for _, of := range reflect.VisibleFields(f.Type) {
			names = append(names, f.Name+"."+of.Name)
		}
	}
	return names
}
