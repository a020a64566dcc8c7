package match_test

import (
	"regexp"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
)

// TestPinned has cases that random texts rarely contain.
func TestPinned(t *testing.T) {
	for _, test := range []struct {
		source, data string
		want         int
	}{
		{`(?m)[^\n]|b$`, "a\r\r\n", 2}, // the first \r stays, and does not count as the "\r" of a line end
		{`(?m)a$|\b\n`, "a\r\nb\r\n", 3},
		{`(?m)a(b$)?|\b\n`, "ab\r\n", 2},
		{`(?m)a(b$)?`, "ab\r\nab", 2},
		{`(?m)a(b$(\nc)?)?|\b\n`, "ab\r\nxab\r\nx", 4},
		{`(?s)b*\Wk?`, "bka b\u00e9\n\u00e9", 4},
		{`(?m)[^a\n]|b$\n`, "a\r\r\n", 1},
		{`A(?i:a)`, "Aa AA aA", 2},
		{`[K](?i:k)`, "K\u212a Kk KK kK", 3},
		{`az{2,}q`, "azzzq azq", 1},
		{`\b(?:qz)+x\s`, "qzqzx\n", 1},
		{`(?:a|ab)(?:c|bcd)(?:d*)`, "abcd abcdd", 2}, // leftmost-first, not longest
		{`(?:(?:^|x)+z|y)`, "z xz y", 3},
		{`(?m:(?:(?:^)|x)+z|y)`, "z\nz xz xxz y", 5},
		{`(?:a|b)??b`, "abb", 2},
		{"\u00e9\\B", "\u00e9\u00e9a", 1},
		{`.{3}`, "\xe4\xb8a\xff\xf0\x9f\x98\x80 \u4e16", 2},
		{`\x{FFFD}{2}`, "\xe4\xb8\ufffd\xed\xa0\x80\xc0", 3},
		{"[^a]\u4e16?", "\xe4\xb8\x96\xe4\xb8a", 3},
	} {
		p := compile(t, test.source, match.Regex, match.Flags{})
		if n, err := against(p, byRegexp(regexp.MustCompile(test.source)), []byte(test.data)); err != nil || n != test.want {
			t.Errorf("%q in %q: %d matches, want %d, %v", test.source, test.data, n, test.want, err)
		}
	}
}
