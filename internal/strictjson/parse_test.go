package strictjson_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/strictjson"
)

func TestParsePositions(t *testing.T) {
	text := "{\n  \"näme\": \"a\\u00e4\\ud83d\\ude00\\n\",\n  \"a/b~c\": [1, {\"x\": null}, true]\n}\n"
	root, err := strictjson.Parse([]byte(text), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := root.Get("näme").Text; got != "aä😀\n" {
		t.Errorf("text is %q", got)
	}
	x := root.Get("a/b~c").Elems[1].Get("x")
	if got := text[x.Offset:x.End]; got != "null" {
		t.Errorf("the value is at %q", got)
	}
	if got := text[root.Members[1].NameOffset:][:7]; got != `"a/b~c"` {
		t.Errorf("the name stands at %q", got)
	}
	if got := text[root.Offset:root.End]; got != strings.TrimSpace(text) {
		t.Errorf("the whole stands at %q", got)
	}
	line, column := strictjson.LineColumn([]byte(text), strings.Index(text, `"a\u`))
	if line != 2 || column != 11 { // ä counts as one
		t.Errorf("line %d, column %d", line, column)
	}
	if got := string(root.AppendJSON(nil)); got != `{"näme":"aä😀\n","a/b~c":[1,{"x":null},true]}` {
		t.Errorf("written again: %s", got)
	}
	if root.Get("NÄME") != nil || x.Get("x") != nil || (*strictjson.Node)(nil).Get("x") != nil {
		t.Error("Get finds what is not there")
	}
}

func TestLocator(t *testing.T) {
	data := []byte("ab\nä\tc\r\n\nx")
	l := strictjson.NewLocator(data)
	for _, tt := range []struct{ offset, line, column int }{
		{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {5, 2, 2}, {6, 2, 3}, {9, 3, 1}, {10, 4, 1}, {11, 4, 2}, {99, 4, 2}, {1, 1, 2}, {-1, 1, 1},
	} {
		line, column := l.LineColumn(tt.offset)
		if line != tt.line || column != tt.column {
			t.Errorf("offset %d: line %d, column %d, want %d, %d", tt.offset, line, column, tt.line, tt.column)
		}
	}
}

// Each text is refused with exactly this message. encoding/json accepts the first group.
var refused = []struct{ name, text, want string }{
	{"repeated name", "{\n\t\"id\": 1,\n\t\"a\": [], \"id\": 2}", `line 3, column 11: name "id" appears twice in one object`},
	{"repeated through an escape", `{"id":1,"\u0069d":2}`, `line 1, column 9: name "id" appears twice in one object`},
	{"repeated among many", `{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"o":0,"p":0,"q":0,"r":0,"q":0}`, `line 1, column 110: name "q" appears twice in one object`},
	{"second value", `{} {}`, `line 1, column 4: '{' after the end of the JSON value`},
	{"trailing garbage", `{}x`, `line 1, column 3: 'x' after the end of the JSON value`},
	{"invalid UTF-8", "[\"a\xff\"]", `line 1, column 4: byte 0xff is not valid UTF-8`},
	{"surrogate in UTF-8", "[\"\xed\xa0\x80\"]", `line 1, column 3: byte 0xed is not valid UTF-8`},
	{"lone high surrogate", `["x\ud83d"]`, `line 1, column 4: \ud83d is one half of a surrogate pair without the other`},
	{"lone low surrogate", `["\ude00\ud83d"]`, `line 1, column 3: \ude00 is one half of a surrogate pair without the other`},
	{"two high surrogates", `["\ud83d\ud83d"]`, `line 1, column 3: \ud83d is one half of a surrogate pair without the other`},
	{"too large", `[1e999]`, `line 1, column 2: number "1e999" is out of range`},
	{"too small", `[-1.5e-999]`, `line 1, column 2: number "-1.5e-999" is out of range: it is too close to 0`},

	{"nothing", "", "line 1, column 1: the text is empty"},
	{"only space", " \n ", "line 2, column 2: the text is empty"},
	{"byte order mark", "\ufeff{}", "line 1, column 1: the text starts with a byte order mark: save it as UTF-8 without one"},
	{"open object", `{"a": 1`, `line 1, column 8: expected ',' or the '}' of the object that starts in line 1, found the end of the text`},
	{"open list", "[1\n2]", `line 2, column 1: expected ',' or the ']' of the list that starts in line 1, found '2'`},
	{"open string", `["abc`, `line 1, column 2: the string that starts here has no closing quote`},
	{"open escape", `["abc\`, `line 1, column 6: the text ends in the middle of a string`},
	{"comma at the end of a list", `[1,]`, `line 1, column 4: a comma before ']' has nothing after it`},
	{"comma at the end of an object", `{"a":1,}`, `line 1, column 8: a comma before '}' has nothing after it`},
	{"comma first", `[,1]`, `line 1, column 2: expected a value, found ','`},
	{"no colon", `{"a" 1}`, `line 1, column 6: expected ':' after the name "a", found '1'`},
	{"no value", `{"a":}`, `line 1, column 6: expected a value, found '}'`},
	{"no name", `{1:2}`, `line 1, column 2: expected a name or '}', found '1'`},
	{"bare name", `{a:2}`, `line 1, column 2: expected a name in double quotes, found 'a'`},
	{"single quotes", `{"a":'b'}`, `line 1, column 6: expected a value, found '\'': strings and names need double quotes`},
	{"comment", "{\n// x\n}", `line 2, column 1: expected a name, found '/': comments are not allowed in JSON`},
	{"comment for a value", `[1, /* x */ 2]`, `line 1, column 5: expected a value, found '/': comments are not allowed in JSON`},
	{"python", `[True]`, `line 1, column 2: expected a value, found the word "True": did you mean true?`},
	{"bare word", `[hello]`, `line 1, column 2: expected a value, found the word "hello": strings and names need double quotes`},
	{"word and digit", `[true1]`, `line 1, column 2: expected a value, found the word "true1": did you mean true?`},
	{"not a number", `[NaN]`, `line 1, column 2: expected a value, found the word "NaN": strings and names need double quotes`},
	{"infinity", `[-Infinity]`, `line 1, column 2: "-Infinity" is not a number in JSON: a digit is missing`},
	{"leading zero", `[-012]`, `line 1, column 2: "-012" is not a number in JSON: it has a leading zero`},
	{"hexadecimal", `[0x1F]`, `line 1, column 2: "0x1F" is not a number in JSON: "x1F" does not belong there`},
	{"no fraction", `[1.]`, `line 1, column 2: "1." is not a number in JSON: a digit is missing after the point`},
	{"no exponent", `[1e+]`, `line 1, column 2: "1e+" is not a number in JSON: a digit is missing in the exponent`},
	{"plus", `[+1]`, `line 1, column 2: expected a value, found '+': a number starts with a digit or '-'`},
	{"line break", "[\"a\nb\"]", `line 1, column 4: a line break in a string must be written as \n`},
	{"tab", "[\"a\tb\"]", `line 1, column 4: a tab in a string must be written as \t`},
	{"control", "[\"a\x01b\"]", `line 1, column 4: a control character in a string must be written as \u0001`},
	{"bad escape", `["\s+"]`, `line 1, column 3: a backslash before 's' means nothing in JSON: write \\ for a backslash`},
	{"bad hex", `["\u12g4"]`, `line 1, column 3: \u needs four hexadecimal digits`},
	{"short hex", `["\u12`, `line 1, column 3: \u needs four hexadecimal digits`},
	{"bad space", "[1,\u00a02]", `line 1, column 4: expected a value, found '\u00a0'`},
	{"long name", `{"` + strings.Repeat("ä", 100) + `" 1}`, `line 1, column 105: expected ':' after the name "` + strings.Repeat("ä", 60) + `"..., found '1'`},
}

func TestRefused(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			n, err := strictjson.Parse([]byte(tt.text), strictjson.Limits{})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if _, ok := errors.AsType[*strictjson.SyntaxError](err); !ok || n != nil {
				t.Errorf("got %v and a %T", n, err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		name   string
		text   string
		limits strictjson.Limits
		want   error
		msg    string
	}{
		{"default depth", deep(100), strictjson.Limits{}, nil, ""},
		{"past the default depth", deep(101), strictjson.Limits{}, strictjson.ErrTooDeep, "line 1, column 101: lists and objects are nested more than 100 deep"},
		{"never closed", strings.Repeat(`{"a":[`, 1<<20), strictjson.Limits{}, strictjson.ErrTooDeep, ""},
		{"depth is not length", "[" + strings.TrimSuffix(strings.Repeat("[],", 1000), ",") + "]", strictjson.Limits{MaxDepth: 2}, nil, ""},
		{"depth has an end", deep(10_001), strictjson.Limits{MaxDepth: 1 << 30}, strictjson.ErrTooDeep, ""},
		{"size", `[1234]`, strictjson.Limits{MaxBytes: 6}, nil, ""},
		{"past the size", `[12345]`, strictjson.Limits{MaxBytes: 6}, strictjson.ErrTooLarge, "the text is too large: 7 bytes, at most 6 are allowed"},
		{"past the default size", `"` + strings.Repeat("a", 16<<20) + `"`, strictjson.Limits{}, strictjson.ErrTooLarge, ""},
		{"values", `[1,{"a":2}]`, strictjson.Limits{MaxValues: 4}, nil, ""},
		{"past the values", `[1,{"a":2},3]`, strictjson.Limits{MaxValues: 4}, strictjson.ErrTooLarge, "line 1, column 12: the text has more than 4 values"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := strictjson.Parse([]byte(tt.text), tt.limits)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if tt.msg != "" && err.Error() != tt.msg {
				t.Errorf("got %q, want %q", err, tt.msg)
			}
		})
	}
}

// The worst text of the maximum size takes no more memory than the limit of values allows.
func TestMemoryIsBounded(t *testing.T) {
	text := []byte("[" + strings.Repeat("[],", 5<<20) + "[]]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := strictjson.Parse(text, strictjson.Limits{})
	runtime.ReadMemStats(&after)
	if !errors.Is(err, strictjson.ErrTooLarge) {
		t.Fatalf("got %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
		t.Errorf("allocated %d MiB", used>>20)
	}
}

// Long names on many levels must not take memory that is quadratic in the text.
func TestParseDeepNames(t *testing.T) {
	name := strings.Repeat("n", 10_000)
	text := []byte(strings.Repeat(`{"`+name+`":`, 100) + "1" + strings.Repeat("}", 100))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := strictjson.Parse(text, strictjson.Limits{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 10<<20 {
		t.Errorf("allocated %d MiB for a text of 1 MiB", used>>20)
	}
	depth := 0
	for ; n.Kind == strictjson.Object; depth++ {
		n = n.Members[0].Value
	}
	if depth != 100 {
		t.Errorf("%d levels", depth)
	}
}

// plain converts the tree to the values that encoding/json makes of the text.
func plain(n *strictjson.Node) any {
	switch n.Kind {
	case strictjson.Bool:
		return n.Bool
	case strictjson.Number:
		return json.Number(n.Number)
	case strictjson.String:
		return n.Text
	case strictjson.Array:
		list := make([]any, len(n.Elems))
		for i, e := range n.Elems {
			list[i] = plain(e)
		}
		return list
	case strictjson.Object:
		object := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			object[m.Name] = plain(m.Value)
		}
		return object
	default:
		return nil
	}
}

func decodeStd(text []byte) (any, error) {
	if !json.Valid(text) {
		return nil, errors.New("invalid")
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// stricter are parts of the messages for texts that encoding/json accepts and Parse does not.
var stricter = []string{"appears twice", "not valid UTF-8", "surrogate pair", "out of range", "nested more than", "more than"}

func differential(t *testing.T, text []byte) {
	t.Helper()
	want, stdErr := decodeStd(text)
	n, err := strictjson.Parse(text, strictjson.Limits{})
	if err != nil {
		if stdErr == nil {
			for _, s := range stricter {
				if strings.Contains(err.Error(), s) {
					return
				}
			}
			t.Fatalf("refused what encoding/json accepts: %v\n%q", err, text)
		}
		return
	}
	if stdErr != nil {
		t.Fatalf("accepted what encoding/json refuses: %v\n%q", stdErr, text)
	}
	if diff := cmp.Diff(want, plain(n)); diff != "" {
		t.Fatalf("other value than encoding/json (-want +got):\n%s", diff)
	}
	// Written and read again it is the same, and the text of each node is the text of its value.
	again, err := strictjson.Parse(n.AppendJSON(nil), strictjson.Limits{})
	if err != nil {
		t.Fatalf("cannot read what it wrote: %v\n%s", err, n.AppendJSON(nil))
	}
	if diff := cmp.Diff(plain(n), plain(again)); diff != "" {
		t.Fatalf("changed by writing (-first +second):\n%s", diff)
	}
	checkPlaces(t, text, n)
}

func checkPlaces(t *testing.T, text []byte, n *strictjson.Node) {
	t.Helper()
	part, err := strictjson.Parse(text[n.Offset:n.End], strictjson.Limits{})
	if err != nil {
		t.Fatalf("%q is not the text of a value: %v", text[n.Offset:n.End], err)
	}
	if diff := cmp.Diff(plain(n), plain(part)); diff != "" {
		t.Fatalf("the text from Offset to End is another value (-want +got):\n%s", diff)
	}
	for _, e := range n.Elems {
		checkPlaces(t, text, e)
	}
	for _, m := range n.Members {
		checkPlaces(t, text, m.Value)
		if text[m.NameOffset] != '"' {
			t.Fatalf("no name at %d", m.NameOffset)
		}
	}
}

var accepted = []string{
	`null`, ` true `, `false`, `0`, `-0`, `-0.0e-0`, `12.50E+3`, `1e308`, `5e-324`, `123456789012345678901234567890`, `""`, `"\"\\\/\b\f\n\r\t\u00e4\u0000"`,
	`"\ud83d\ude00"`, "\"\u2028\ufffd\x7f\"", `[]`, `[ ]`, `{}`, `{ }`, `[[],{},[{}]]`, `{"a":{"b":[1,2,{"c":null}]},"":0}`, "\t[\r\n1 , 2 ]\n",
	`{"a~b/c":[0,1,2,3,4,5,6,7,8,9,10,11]}`, `"\ufffd"`,
}

func TestDifferential(t *testing.T) {
	for _, text := range accepted {
		if _, err := strictjson.Parse([]byte(text), strictjson.Limits{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		differential(t, []byte(text))
	}
	for _, tt := range refused {
		differential(t, []byte(tt.text))
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range accepted {
		f.Add([]byte(text))
	}
	for _, tt := range refused {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<12 {
			return // checkPlaces reads every part again
		}
		differential(t, text)
	})
}
