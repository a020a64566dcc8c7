package params_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/params"
)

var (
	anyText  = rapid.String()
	someText = anyText.Filter(func(s string) bool { return s != "" })
	number   = rapid.IntRange(1, 1<<31-1)
)

func maybe[T any](t *rapid.T, label string, g *rapid.Generator[T]) T {
	var zero T
	if rapid.Bool().Draw(t, label+"?") {
		return g.Draw(t, label)
	}
	return zero
}

var drawRange = rapid.Custom(func(t *rapid.T) lineRange {
	return lineRange{Start: number.Draw(t, "start"), End: maybe(t, "end", rapid.Int())}
})

var drawPair = rapid.Custom(func(t *rapid.T) pair {
	return pair{someText.Draw(t, "old"), anyText.Draw(t, "new"), rapid.SampledFrom([]string{"", "first", "all"}).Draw(t, "kind")}
})

// drawKitchen draws a value that passes Check.
var drawKitchen = rapid.Custom(func(t *rapid.T) kitchen {
	return kitchen{
		common: common{Files: maybe(t, "files", rapid.SliceOf(anyText))}, Pattern: someText.Draw(t, "pattern"),
		Mode:  rapid.SampledFrom([]mode{"", "auto", "literal", "regex"}).Draw(t, "mode"),
		Kinds: maybe(t, "kinds", rapid.SliceOf(rapid.SampledFrom([]string{"a", "b"}))),
		Whole: rapid.Bool().Draw(t, "whole"), Line: rapid.Int().Draw(t, "line"), Small: rapid.Int8().Draw(t, "small"),
		Count: rapid.Uint16().Draw(t, "count"), Big: rapid.Uint64().Draw(t, "big"), Ratio: rapid.Float64().Draw(t, "ratio"),
		Rough: rapid.Float32().Draw(t, "rough"), Edits: maybe(t, "edits", rapid.SliceOf(drawPair)),
		Ranges: maybe(t, "ranges", rapid.SliceOf(rapid.Ptr(drawRange, false))), Opt: maybe(t, "opt", drawRange),
		More: rapid.Ptr(drawRange, true).Draw(t, "more"), Limit: rapid.Ptr(rapid.Int(), true).Draw(t, "limit"),
		Title: rapid.Ptr(anyText, true).Draw(t, "title"), Numbers: maybe(t, "numbers", rapid.SliceOf(rapid.Int())),
		Matrix: maybe(t, "matrix", rapid.SliceOfN(rapid.SliceOfN(anyText, 0, 3), 0, 3)),
		Vars:   maybe(t, "vars", rapid.MapOf(anyText, anyText)), Table: maybe(t, "table", rapid.MapOf(anyText, drawRange)),
		Weights: maybe(t, "weights", rapid.MapOf(rapid.Map(anyText, func(s string) mode { return mode(s) }), rapid.Float64())),
		Timeout: millis(time.Duration(rapid.Int32().Draw(t, "timeout")) * time.Millisecond),
		Level:   level(rapid.IntRange(0, 2).Draw(t, "level")), Levels: maybe(t, "levels", rapid.SliceOf(rapid.Just(level(1)))),
		Since: maybe(t, "since", rapid.Map(rapid.Int64Range(0, 1<<37), func(n int64) time.Time { return time.Unix(n, n&0xff).UTC() })),
		Extra: rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`null`), json.RawMessage(` [1.0, {"a":"\u00e4"}] `)}).Draw(t, "extra"),
		Plain: anyText.Draw(t, "plain"),
	}
})

var bindable = []string{"/files", "/line", "/small", "/big", "/ratio", "/limit", "/numbers", "/level", "/since", "/timeout", "/opt/end", "/weights"}

// drawBinds binds some of the parameters that can be bound.
func drawBinds(t *rapid.T, k *kitchen) map[string]string {
	binds := make(map[string]string)
	for _, pointer := range rapid.SliceOfDistinct(rapid.SampledFrom(bindable), rapid.ID[string]).Draw(t, "bound") {
		if pointer == "/weights" { // a map cannot be bound, but its elements can
			k.Weights = map[mode]float64{"a/b~": 0}
			pointer = "/weights/a~1b~0"
		}
		if pointer == "/opt/end" {
			k.Opt.Start = 1
		}
		binds[pointer] = "{{a.b}}"
	}
	return binds
}

// Decode(Encode(v)) is Equal to v, with the same bindings, for any strings; and equal values are written the same.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKitchen.Draw(t, "value")
		binds := drawBinds(t, &k)
		if problems := params.Check("try", k, binds, isTemplate); problems != nil {
			t.Fatalf("check: %v", lines(problems))
		}
		data, err := params.Encode(k, nil, binds)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(data) {
			t.Fatalf("encoding/json cannot read %s", data)
		}
		// The prototype has defaults of all kinds, and is a pointer: neither must make a difference.
		proto := &kitchen{
			Small: 3, Rough: 1.5, Numbers: []int{1}, Weights: map[mode]float64{"w": 1}, Plain: "p", Pattern: "q", Level: 1, Mode: "auto", Whole: true,
			Line: 7, Count: 3, Big: 1, Ratio: 0.5, Kinds: []string{"a"}, Vars: map[string]string{"k": "v"}, Timeout: 1e9, Levels: []level{1},
			Since: time.Unix(1, 0).UTC(), Matrix: [][]string{{"x"}}, common: common{Files: []string{"f"}},
		}
		if data, err = params.Encode(k, proto, binds); err != nil {
			t.Fatal(err)
		}
		got, gotBinds, problems := params.Decode(proto, parse(string(data)), "try", isTemplate)
		if problems != nil {
			t.Fatalf("decode: %v\n%s", lines(problems), data)
		}
		if !equalBound(k, got, binds) || !equalBound(got, k, binds) || len(binds) == 0 && !equal(k, got) {
			t.Fatalf("changed on the way:\n%#v\n%s\n%#v", k, data, got)
		}
		if diff := cmp.Diff(binds, gotBinds); diff != "" && len(binds)+len(gotBinds) > 0 {
			t.Fatalf("bindings changed on the way (-want +got):\n%s", diff)
		}
		again, err := params.Encode(got, proto, gotBinds)
		if err != nil || string(again) != string(data) {
			t.Fatalf("equal values are written differently: %v\n%s\n%s", err, data, again)
		}
	})
}

// A clone is equal and shares nothing: a change of one does not affect the other.
func TestClone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKitchen.Draw(t, "value")
		before, err := params.Encode(k, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := params.Clone(&k).(*kitchen)
		if !equal(k, c) || !equal(c, params.Clone(k)) {
			t.Fatal("the clone is not equal")
		}
		scramble(reflect.ValueOf(c).Elem())
		after, err := params.Encode(k, nil, nil)
		if err != nil || string(before) != string(after) {
			t.Fatalf("the original changed with its clone: %v\n%s\n%s", err, before, after)
		}
	})
}

// scramble changes everything that can be reached from a value without assigning to the value itself.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() || v.Type().Field(i).Anonymous {
				scramble(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
			v.Index(i).SetZero()
		}
	case reflect.Map:
		v.Clear()
	case reflect.Pointer:
		if !v.IsNil() {
			scramble(v.Elem())
			v.Elem().SetZero()
		}
	}
}

// Expand without templates is Clone, sees the same strings as Strings, and modifies nothing.
func TestExpandOfNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKitchen.Draw(t, "value")
		before := params.Clone(k)
		var want, got []string
		of(k).Strings("", func(pointer, s string) { want = append(want, pointer+"="+s) })
		c, err := of(k).Expand(nil, func(pointer, s string) (any, error) {
			got = append(got, pointer+"="+s)
			return s, nil
		})
		if err != nil || !equal(c, k) || !equal(before, k) {
			t.Fatalf("not equal: %v", err)
		}
		if !slices.Equal(want, got) {
			t.Fatalf("Strings sees %q\nExpand sees  %q", want, got)
		}
		upper, err := of(&k).Expand(nil, func(_, s string) (any, error) { return strings.ToUpper(s), nil })
		if err != nil || !equal(before, k) {
			t.Fatalf("the original was modified: %v", err)
		}
		scramble(reflect.ValueOf(upper).Elem())
		if !equal(before, k) {
			t.Fatal("the copy shares memory with the original")
		}
	})
}
