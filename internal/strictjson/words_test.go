package strictjson_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/strictjson"
)

func TestWhole(t *testing.T) {
	tests := []struct {
		text     string
		negative bool
		want     uint64
		err      error
	}{
		{"0", false, 0, nil}, {"-0", true, 0, nil}, {"0.00e5", false, 0, nil}, {"0e-999999999999999999999", false, 0, nil},
		{"3.0", false, 3, nil}, {"30e-1", false, 3, nil}, {"0.3e1", false, 3, nil}, {"-1.2e+3", true, 1200, nil},
		{"9007199254740993", false, 9007199254740993, nil}, // not a float64
		{"18446744073709551615", false, 1<<64 - 1, nil}, {"18446744073709551616", false, 0, strictjson.ErrRange},
		{"99999999999999999999", false, 0, strictjson.ErrRange}, {"184467440737095516150e-1", false, 1<<64 - 1, nil},
		{"1e19", false, 1e19, nil}, {"1e20", false, 0, strictjson.ErrRange}, {"1e999999999999999999999", false, 0, strictjson.ErrRange},
		{"0." + strings.Repeat("0", 2000) + "7e2001", false, 7, nil}, {"7" + strings.Repeat("0", 2000) + "e-2000", false, 7, nil},
		{"1.5", false, 0, strictjson.ErrFraction}, {"1e-1", false, 0, strictjson.ErrFraction}, {"1e-999999999999999999999", false, 0, strictjson.ErrFraction},
		{"", false, 0, strictjson.ErrNotNumber}, {" 1", false, 0, strictjson.ErrNotNumber}, {"1x", false, 0, strictjson.ErrNotNumber},
		{"+1", false, 0, strictjson.ErrNotNumber}, {"01", false, 0, strictjson.ErrNotNumber}, {"1_0", false, 0, strictjson.ErrNotNumber},
	}
	for _, tt := range tests {
		negative, got, err := strictjson.Whole(tt.text)
		if got != tt.want || !errors.Is(err, tt.err) || err == nil && negative != tt.negative {
			t.Errorf("Whole(%.30q) = %v, %d, %v", tt.text, negative, got, err)
		}
	}
}

// Whole agrees with exact arithmetic.
func TestWholeIsExact(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,6}0{0,20})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		text := number.Draw(t, "number")
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		negative, magnitude, err := strictjson.Whole(text)
		switch {
		case !want.IsInt():
			if !errors.Is(err, strictjson.ErrFraction) {
				t.Fatalf("%s: %v", text, err)
			}
		case new(big.Int).Abs(want.Num()).BitLen() > 64:
			if !errors.Is(err, strictjson.ErrRange) {
				t.Fatalf("%s: %v", text, err)
			}
		default:
			got := new(big.Int).SetUint64(magnitude)
			if negative {
				got.Neg(got)
			}
			if err != nil || got.Cmp(want.Num()) != 0 {
				t.Fatalf("%s: got %v, %v", text, got, err)
			}
		}
	})
}

func TestSplitPointer(t *testing.T) {
	tests := []struct {
		pointer string
		want    []string
		ok      bool
	}{
		{"", nil, true}, {"/", []string{""}, true}, {"/a/0", []string{"a", "0"}, true}, {"/a~1b/~0~1~01", []string{"a/b", "~/~1"}, true},
		{"a", nil, false}, {"/~", nil, false}, {"/a~2", nil, false}, {"/~0~", nil, false},
	}
	for _, tt := range tests {
		got, ok := strictjson.SplitPointer(tt.pointer)
		if ok != tt.ok || !slices.Equal(got, tt.want) {
			t.Errorf("SplitPointer(%q) = %q, %v", tt.pointer, got, ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		got, ok := strictjson.SplitPointer("/x/" + strictjson.EscapeToken(name))
		if !ok || len(got) != 2 || got[1] != name {
			t.Fatalf("%q became %q", name, got)
		}
	})
}

func TestQuoted(t *testing.T) {
	if got := string(strictjson.AppendQuoted([]byte("x"), "<&>\"\\/\b\f\n\r\t\x01\x7f\u2028é")); got != "x\"<&>\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\u2028é\"" {
		t.Errorf("got %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		quoted := strictjson.AppendQuoted(nil, s)
		n, err := strictjson.Parse(quoted, strictjson.Limits{})
		if err != nil || n.Text != s {
			t.Fatalf("Parse: %+v, %v", n, err)
		}
		var std string
		if err := json.Unmarshal(quoted, &std); err != nil || std != s {
			t.Fatalf("encoding/json: %q, %v", std, err)
		}
	})
}
