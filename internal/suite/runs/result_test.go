package runs_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// filled sets every exported field below v to a unique value that is not zero.
func filled(t *testing.T, v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(t, v.Elem(), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 0).UTC()))
			return
		}
		for i := range v.NumField() {
			filled(t, v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		filled(t, v.Index(0), n)
		filled(t, v.Index(1), n)
	case reflect.Map:
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(t, key, n)
		filled(t, elem, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, elem)
	case reflect.Interface:
		v.Set(reflect.ValueOf("data " + strconv.Itoa(*n)))
	case reflect.String:
		v.SetString("text " + strconv.Itoa(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(3) // a level of risk
	case reflect.Int, reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			v.SetInt(int64(*n) * int64(time.Millisecond))
			return
		}
		v.SetInt(int64(*n))
	default:
		t.Fatalf("a field of a result is %s: add a value for it here", v.Type())
	}
}

// The JSON of a result loses none of its fields, except the causes of failed files, which are not part of it.
func TestResultJSONHasEveryField(t *testing.T) {
	var want, got millrace.Result
	n := 0
	filled(t, reflect.ValueOf(&want).Elem(), &n)
	data, err := json.Marshal(want)
	if err == nil {
		err = json.Unmarshal(data, &got)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(actions.FileReport{}, "Cause")); err != nil || d != "" {
		t.Errorf("%v (-written +read):\n%s", err, d)
	}
}

// filling is an action whose outcome sets every field.
type filling struct{ t *testing.T }

func (filling) Spec() actions.Spec {
	return actions.Spec{Name: "filling", Summary: "A test", ReadOnly: true}
}

func (f filling) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	var out actions.Outcome
	n := 0
	filled(f.t, reflect.ValueOf(&out).Elem(), &n)
	c.Warnf("a warning")
	return out, nil
}

// Changes that a caller makes to the result of a plan do not change the plan's result.
func TestPlanResultIsACopy(t *testing.T) {
	p := millrace.New("p").Step("fill", filling{t}).Step("made", actions.Create{Path: "new", Content: "x"}).
		Step("edited", actions.Edit{Files: []string{"a"}, OldText: "a", NewText: "b"}).
		Step("gone", actions.Delete{Files: []string{"b"}}).
		Step("moved", actions.Rename{Files: []string{"c"}, To: "d"}).MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), suite.Tree("a", "a", "b", "b", "c", "c"), p)
	if err != nil {
		t.Fatal(err)
	}
	first, second := plan.Result(), plan.Result()
	if d := cmp.Diff(first, second); d != "" {
		t.Errorf("(-first +second):\n%s", d)
	}
	places := 0
	apart(t, "Result", reflect.ValueOf(*first), reflect.ValueOf(*second), &places)
	if places < 30 {
		t.Errorf("only %d places were compared", places)
	}
}

// apart checks that two equal values share nothing that can be changed.
func apart(t *testing.T, at string, a, b reflect.Value, places *int) {
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.IsNil() || a.Kind() != reflect.Pointer && a.Len() == 0 {
			return
		}
		if *places++; a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", at)
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		apart(t, at, a.Elem(), b.Elem(), places)
	case reflect.Slice:
		for i := range a.Len() {
			apart(t, at+"["+strconv.Itoa(i)+"]", a.Index(i), b.Index(i), places)
		}
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range a.NumField() {
			apart(t, at+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i), places)
		}
	}
}
