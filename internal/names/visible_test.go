package names_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/names"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                              "",
		"a.txt":                         "a.txt",
		`back\slash "quoted"`:           `back\slash "quoted"`,
		"Grüße, 世界 👍🏽 e\u0301":          "Grüße, 世界 👍🏽 e\u0301",
		"\u0600\u0661":                  "\u0600\u0661", // an Arabic number with its sign
		"\ufffd":                        "\ufffd",
		"\x1b[31mred\x1b[0m":            `\x1b[31mred\x1b[0m`,
		"\x1b]0;title\a":                `\x1b]0;title\a`,
		"\x9b31m":                       `\x9b31m`, // the one-byte form, which is not UTF-8
		"\u009b31m":                     `\u009b31m`,
		"two\nlines\r\n":                `two\nlines\r\n`,
		"a\tb\x00c\x7f":                 `a\tb\x00c\x7f`,
		"gpj.\u202etxt.sh":              `gpj.\u202etxt.sh`,
		"\u2066a\u2069\u061c\u200e":     `\u2066a\u2069\u061c\u200e`,
		"zero\u200bwidth\ufeff\u00ad":   `zero\u200bwidth\ufeff\u00ad`,
		"line\u2028paragraph\u2029":     `line\u2028paragraph\u2029`,
		"filler\u3164\u115f\U000e0041":  `filler\u3164\u115f\U000e0041`,
		"a\ufe0e\ufe0f\u180b\U000e0148": `a\ufe0e\ufe0f\u180b\U000e0148`,
		"bad\xff\xfeand\xe2\x80cut\xe2": `bad\xff\xfeand\xe2\x80cut\xe2`,
	} {
		if got := names.Visible(in); got != want {
			t.Errorf("%+q: got %q, want %q", in, got, want)
		}
	}
}

// TestVisibleLetsNothingThrough tests every character and every byte.
func TestVisibleLetsNothingThrough(t *testing.T) {
	t.Parallel()
	check := func(in string) {
		out := names.Visible("a" + in + "b")
		if !utf8.ValidString(out) || !strings.HasPrefix(out, "a") || !strings.HasSuffix(out, "b") {
			t.Errorf("%+q gives %+q", in, out)
		}
		for _, r := range out {
			if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
				t.Errorf("%+q gives %+q", in, out)
			}
		}
		if again := names.Visible(out); again != out {
			t.Errorf("%+q gives %+q, and that %+q", in, out, again)
		}
	}
	for r := range unicode.MaxRune + 1 {
		check(string(r))
	}
	for n := range 256 {
		check(string([]byte{byte(n)}))
		check(string([]byte{0xe2, byte(n)}))
	}
}

func ExampleVisible() {
	fmt.Println(names.Visible("report\u202efdp.exe"))
	fmt.Println(names.Visible("ok\x1b[2K\rnothing to see"))
	// Output:
	// report\u202efdp.exe
	// ok\x1b[2K\rnothing to see
}
