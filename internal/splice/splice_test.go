package splice_test

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/splice"
)

func TestApplySplices(t *testing.T) {
	t.Parallel()
	cut := func(off, n int64, text string) change.Splice {
		return change.Splice{Off: off, Len: n, Text: []byte(text)}
	}
	tests := []struct {
		name    string
		data    string
		splices []change.Splice
		want    string
		wantErr string
	}{
		{name: "none", data: "abc", want: "abc"},
		{name: "replace", data: "abc", splices: []change.Splice{cut(1, 1, "xyz")}, want: "axyzc"},
		{name: "delete all", data: "abc", splices: []change.Splice{cut(0, 3, "")}, want: ""},
		{name: "insert into nothing", data: "", splices: []change.Splice{cut(0, 0, "x")}, want: "x"},
		{name: "insert at the end", data: "abc", splices: []change.Splice{cut(3, 0, "d")}, want: "abcd"},
		{name: "two inserts at one offset keep their order", data: "ab", splices: []change.Splice{cut(1, 0, "1"), cut(1, 0, "2")}, want: "a12b"},
		{name: "insert before a replacement", data: "abc", splices: []change.Splice{cut(1, 0, "1"), cut(1, 1, "2")}, want: "a12c"},
		{name: "touching", data: "abc", splices: []change.Splice{cut(0, 1, "x"), cut(1, 1, "y")}, want: "xyc"},
		{name: "invalid UTF-8, BOM and mixed line ends stay", data: "\xef\xbb\xbfa\r\nb\n\xff\rc", splices: []change.Splice{cut(6, 1, "B")}, want: "\xef\xbb\xbfa\r\nB\n\xff\rc"},
		{name: "overlap", data: "abc", splices: []change.Splice{cut(0, 2, ""), cut(1, 1, "")}, wantErr: "splice 1"},
		{name: "out of order", data: "abc", splices: []change.Splice{cut(2, 1, ""), cut(0, 1, "")}, wantErr: "splice 1"},
		{name: "after the end", data: "abc", splices: []change.Splice{cut(2, 2, "")}, wantErr: "splice 0"},
		{name: "offset after the end", data: "abc", splices: []change.Splice{cut(4, 0, "x")}, wantErr: "splice 0"},
		{name: "negative offset", data: "abc", splices: []change.Splice{cut(-1, 1, "")}, wantErr: "splice 0"},
		{name: "negative length", data: "abc", splices: []change.Splice{cut(1, -1, "")}, wantErr: "splice 0"},
		{name: "length that overflows", data: "abc", splices: []change.Splice{cut(2, 1<<63-1, "")}, wantErr: "splice 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := splice.Apply([]byte(tt.data), tt.splices)
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error = %v, want one about %q", err, tt.wantErr)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestComposeSplicesProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := []byte(rapid.StringOfN(rapid.SampledFrom([]rune("abc\n")), 0, 30, -1).Draw(t, "base"))
		first := drawSplices(t, len(base), "first")
		middle, err := splice.Apply(base, first)
		if err != nil {
			t.Fatal(err)
		}
		second := drawSplices(t, len(middle), "second")
		want, err := splice.Apply(middle, second)
		if err != nil {
			t.Fatal(err)
		}
		both, err := splice.Compose(first, second)
		if err != nil {
			t.Fatal(err)
		}
		got, err := splice.Apply(base, both)
		if err != nil {
			t.Fatalf("composed list is not valid: %v\n%v", err, both)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("composed %q, one after the other %q\nfirst %v\nsecond %v\nboth %v", got, want, first, second, both)
		}
		if len(both) > len(first)+len(second) {
			t.Fatalf("%d splices of %d and %d", len(both), len(first), len(second))
		}
		// No origin is lost, invented, or reported twice.
		var origins, all []change.Origin
		for _, s := range both {
			origins = append(origins, s.By...)
		}
		for _, s := range slices.Concat(first, second) {
			all = append(all, s.By...)
		}
		less := func(a, b change.Origin) bool {
			return a.Step < b.Step || a.Step == b.Step && a.Edit < b.Edit
		}
		if diff := cmp.Diff(all, origins, cmpopts.SortSlices(less), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("origins (-want +got):\n%s", diff)
		}
	})
}

func TestComposeSplicesKeepsApartWhatOnlyTouches(t *testing.T) {
	t.Parallel()
	a := []change.Splice{{Off: 2, Len: 2, Text: []byte("xyz"), By: []change.Origin{{Step: "a"}}}}
	b := []change.Splice{
		{Off: 0, Len: 2, Text: []byte("1"), By: []change.Origin{{Step: "b"}}},
		{Off: 5, Len: 1, Text: []byte("2"), By: []change.Origin{{Step: "b", Edit: 1}}},
	}
	got, err := splice.Compose(a, b)
	if err != nil {
		t.Fatal(err)
	}
	want := []change.Splice{b[0], a[0], {Off: 4, Len: 1, Text: []byte("2"), By: []change.Origin{{Step: "b", Edit: 1}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestComposeSplicesRefusesDisorder(t *testing.T) {
	t.Parallel()
	bad := []change.Splice{{Off: 3, Len: 1}, {Off: 0, Len: 1}}
	if _, err := splice.Compose(bad, nil); err == nil || !strings.Contains(err.Error(), "first list") {
		t.Errorf("error = %v, want one about the first list", err)
	}
	if _, err := splice.Compose(nil, bad); err == nil || !strings.Contains(err.Error(), "second list") {
		t.Errorf("error = %v, want one about the second list", err)
	}
}

func FuzzComposeSplices(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "base")
		first := drawSplices(t, len(base), "first")
		middle, err := splice.Apply(base, first)
		if err != nil {
			t.Fatal(err)
		}
		second := drawSplices(t, len(middle), "second")
		want, err := splice.Apply(middle, second)
		if err != nil {
			t.Fatal(err)
		}
		both, err := splice.Compose(first, second)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := splice.Apply(base, both); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}))
}

// TestComposeSplicesOfManyOrigins: thousands of edits inside the text that one edit inserted become one splice, in
// memory that does not grow with the square of their number.
func TestComposeSplicesOfManyOrigins(t *testing.T) {
	const n = 4000
	first := []change.Splice{{Text: make([]byte, 2*n), By: []change.Origin{{Step: "s"}}}}
	var second []change.Splice
	for i := range n {
		second = append(second, change.Splice{Off: int64(2 * i), Len: 1, By: []change.Origin{{Step: "s", Edit: i}}})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	both, err := splice.Compose(first, second)
	runtime.ReadMemStats(&after)
	if err != nil || len(both) != 1 || len(both[0].By) != n || len(both[0].Text) != n {
		t.Fatalf("%d splices, %v", len(both), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d bytes for %d origins", took, n)
	}
}

// drawSplices draws a valid list of splices for n bytes, each with its own origin in the step. Small alphabets and
// steps make overlaps and equal texts likely.
func drawSplices(t *rapid.T, n int, step string) []change.Splice {
	var list []change.Splice
	pos := int64(0)
	for i := range rapid.IntRange(0, 6).Draw(t, "splices") {
		off := pos + int64(rapid.IntRange(0, 4).Draw(t, "gap"))
		if off > int64(n) {
			break
		}
		length := int64(rapid.IntRange(0, min(4, n-int(off))).Draw(t, "length"))
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), 0, 4, -1).Draw(t, "text")
		list = append(list, change.Splice{Off: off, Len: length, Text: []byte(text), By: []change.Origin{{Step: step, Edit: i}}})
		pos = off + length
	}
	return list
}
