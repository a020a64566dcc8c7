package fsutil_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/fsutil"
)

func TestTextFacts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		data  string
		want  fsutil.Facts
		eol   string
		mixed bool
	}{
		{"", fsutil.Facts{}, "\n", false},
		{"a", fsutil.Facts{}, "\n", false},
		{"\n", fsutil.Facts{LF: 1, FinalNewline: true}, "\n", false},
		{"a\nb", fsutil.Facts{LF: 1}, "\n", false},
		{"a\r\nb\r\n", fsutil.Facts{CRLF: 2, FinalNewline: true}, "\r\n", false},
		{"one\r\ntwo\nthree\r\n", fsutil.Facts{CRLF: 2, LF: 1, FinalNewline: true}, "\r\n", true},
		{"a\rb\r", fsutil.Facts{CR: 2, FinalNewline: true}, "\r", false},
		{"a\nb\r", fsutil.Facts{LF: 1, CR: 1}, "\n", true},
		{"a\r\r\nb", fsutil.Facts{CR: 1, CRLF: 1}, "\r\n", true},
		{"\r", fsutil.Facts{CR: 1, FinalNewline: true}, "\r", false},
		{"\xef\xbb\xbf", fsutil.Facts{BOM: 3}, "\n", false},
		{"\xef\xbb\xbfa\n", fsutil.Facts{BOM: 3, LF: 1, FinalNewline: true}, "\n", false},
		{"\xef\xbb", fsutil.Facts{}, "\n", false},
		{"a\x00\n", fsutil.Facts{LF: 1, FinalNewline: true, Binary: true}, "\n", false},
	} {
		got := fsutil.TextFacts([]byte(tt.data))
		if got != tt.want || got.EOL() != tt.eol || got.Mixed() != tt.mixed {
			t.Errorf("%q: %+v, EOL %q, mixed %v", tt.data, got, got.EOL(), got.Mixed())
		}
	}
}

func TestIsBinary(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{0: true, 7999: true, 8000: false, 9000: false} {
		if got := fsutil.IsBinary([]byte(strings.Repeat("x", n) + "\x00" + "x")); got != want {
			t.Errorf("NUL at %d: %v", n, got)
		}
	}
	if fsutil.IsBinary(nil) || fsutil.IsBinary([]byte("\xff\xfe invalid, but text")) {
		t.Error("text is taken for binary")
	}
}

// The counts equal the counts of a reader that goes byte by byte.
func TestTextFactsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"\r", "\n", "\r\n", "a", "é"}), 0, 30).Draw(t, "parts"), "")
		var want fsutil.Facts
		for i := 0; i < len(data); i++ {
			switch {
			case strings.HasPrefix(data[i:], "\r\n"):
				want.CRLF++
				i++
			case data[i] == '\r':
				want.CR++
			case data[i] == '\n':
				want.LF++
			}
		}
		want.FinalNewline = strings.HasSuffix(data, "\n") || strings.HasSuffix(data, "\r") && want.LF+want.CRLF == 0
		if got := fsutil.TextFacts([]byte(data)); got != want {
			t.Errorf("%q: %+v, want %+v", data, got, want)
		}
	})
}
