package millrace

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/risk"
)

// fill sets every exported field of a value, and of all nested values, to something that is not zero.
func fill(t *testing.T, v reflect.Value, at string) {
	t.Helper()
	switch v.Interface().(type) {
	case actions.Action:
		return
	case condition.Condition:
		v.Set(reflect.ValueOf(condition.PrevError()))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		return
	case time.Duration:
		v.SetInt(int64(1500 * time.Microsecond))
		return
	case risk.Level:
		v.Set(reflect.ValueOf(risk.High))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(7)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), at)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), at+"[0]")
	case reflect.Map:
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, at)
		fill(t, elem, at+"[x]")
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, elem)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"list": []any{"a", map[string]any{"b": true}}}))
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(t, v.Field(i), at+"."+f.Name)
			}
		}
	default:
		t.Fatalf("%s: fill cannot make a %v", at, v.Type())
	}
}

// shared returns the places at which two values share memory.
func shared(a, b reflect.Value, at string) []string {
	var places []string
	switch a.Kind() {
	case reflect.Interface:
		return shared(a.Elem(), b.Elem(), at)
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.UnsafePointer() == b.UnsafePointer() && !a.IsNil() {
			return []string{at}
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		places = shared(a.Elem(), b.Elem(), at)
	case reflect.Slice:
		for i := range a.Len() {
			places = append(places, shared(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", at, i))...)
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			places = append(places, shared(a.MapIndex(key), b.MapIndex(key), fmt.Sprintf("%s[%v]", at, key))...)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.IsExported() {
				places = append(places, shared(a.Field(i), b.Field(i), at+"."+f.Name)...)
			}
		}
	}
	return places
}

// holdsZero returns the exported fields of a value that are zero.
func holdsZero(v reflect.Value) []string {
	var fields []string
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && v.Field(i).IsZero() {
			fields = append(fields, f.Name)
		}
	}
	return fields
}

// A clone has every field of the original, and shares no memory with it: a new field that a clone method forgets fails
// here.
func TestClones(t *testing.T) {
	t.Parallel()
	var step Step
	step.Action = actions.Edit{Files: []string{"f"}, OldText: "a", NewText: "b"}
	var result Result
	var visit Visit
	for _, v := range []any{&step, &result, &visit} {
		fill(t, reflect.ValueOf(v).Elem(), reflect.TypeOf(v).Elem().Name())
		if zero := holdsZero(reflect.ValueOf(v).Elem()); len(zero) > 0 {
			t.Fatalf("fill has left out %v of %T", zero, v)
		}
	}
	check := func(name string, was, is any) {
		t.Helper()
		if d := cmp.Diff(was, is, cmp.AllowUnexported(condition.Condition{}), cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Errorf("a clone of %s differs (-was +is):\n%s", name, d)
		}
		if places := shared(reflect.ValueOf(was), reflect.ValueOf(is), name); len(places) > 0 {
			t.Errorf("a clone of %s shares %v", name, places)
		}
	}
	check("Step", step, stepOf(step.defined()))
	check("Result", result, *result.clone())
	check("Visit", visit, visit.clone())
}

// A result and its JSON have the same fields, except the causes of failed files.
func TestResultJSON(t *testing.T) {
	t.Parallel()
	var want, got Result
	fill(t, reflect.ValueOf(&want).Elem(), "Result")
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(actions.FileReport{}, "Cause")); d != "" {
		t.Errorf("(-want +got):\n%s\n%s", d, data)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	if exported := len(reflect.VisibleFields(reflect.TypeFor[Result]())); len(fields) != exported {
		t.Errorf("the JSON has %d fields, the result %d", len(fields), exported)
	}
}
