package match_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
)

// TestForeignGroups: a group in the syntax of another program is refused with the right syntax. An & that may mean the
// match is reported as a doubt.
func TestForeignGroups(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, replacement string
		hint                 string // of the error
		doubt                string
	}{
		{`(a)(?P<n>b)`, `\2\1`, "write ${2} for the group", ""},
		{`(a)(?P<n>b)`, `\g<1>`, "write ${1} for the group", ""},
		{`(a)(?P<n>b)`, `\g<n>`, "write ${n} for the group", ""},
		{`(a)(?P<n>b)`, `<\k<n>>`, "write ${n} for the group", ""},
		{`(a)(?P<n>b)`, `\g{2}`, "write ${2} for the group", ""},
		{`(a)(?P<n>b)`, `$2\1`, `write ${1} for the group, or \\1 for the text`, ""},
		{`(a)(?P<n>b)`, `\3`, "write ${3} for the group", ""},
		{`(?:a)`, `\1`, "write ${1} for the group", ""},
		{`(a)`, `\g<0>`, "write ${0} for the group", ""},
		{`(a)`, `"\0"`, "write ${0} for the group", ""},
		{`(a)`, `\\1`, "", ""},
		{`(a)`, `\d`, `write \\d for a backslash and d`, ""},
		{`(a)`, `\gx`, `write \\g for a backslash and g`, ""},
		{`(a)`, `\/`, `write / for the character`, ""},
		{`(a)`, "\\\n", "write \n for the character", ""},
		{`(a)`, `a\`, `write \\ for a backslash`, ""},
		{`(a)`, `\x9`, `two hexadecimal digits`, ""},
		{`(a)`, `\xe9`, `write \u{e9} for the character é`, ""},
		{`(a)`, `\u{d800}`, `the number of a character`, ""},
		{`(a)`, `\u{110000}`, `the number of a character`, ""},
		{`(a)`, `\u{e9`, `the number of a character`, ""},
		{`(a)`, `<&>`, "", "the match is written $0"},
		{`(a)`, `"&"`, "", "the match is written $0"},
		{`(a)`, `pre&`, "", "the match is written $0"},
		{`(a)`, `<&>$0`, "", ""},
		{`(a)`, `a && b &c &= d & e &amp; &#39; \\&`, "", ""},
		{`(a)`, `$1`, "", ""},
	} {
		tmpl, err := match.ParseTemplate(test.replacement, compile(t, test.pattern, match.Regex, match.Flags{}).Parsed)
		bad, ok := errors.AsType[*match.PatternError](err)
		switch {
		case test.hint != "":
			if !ok || !strings.Contains(bad.Hint, test.hint) {
				t.Errorf("%q: %v, want the hint %q", test.replacement, err, test.hint)
			}
		case err != nil:
			t.Errorf("%q: %v", test.replacement, err)
		case test.doubt == "" && tmpl.Doubt() != "" || !strings.Contains(tmpl.Doubt(), test.doubt):
			t.Errorf("%q: doubt %q, want %q", test.replacement, tmpl.Doubt(), test.doubt)
		}
	}
}

// TestRefusedAsAnExpression: if the mode is guessed and a pattern with special characters is treated as text, the error
// has the reason.
func TestRefusedAsAnExpression(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]struct {
		why     string
		regular bool
	}{
		`foo(?=bar)`: {"invalid or unsupported Perl syntax", true},
		`(a)\1`:      {"invalid escape sequence", true},
		`^x(.*$`:     {"missing closing )", true},
		`f(`:         {"missing closing )", false},
		`a{1000}{9}`: {"invalid", true},
		`plain`:      {"", false},
		`a.*b`:       {"", true},
	} {
		p, err := match.Parse(pattern, match.Auto, match.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		switch why := p.Refused(); {
		case (why == nil) != (want.why == ""), why != nil && !strings.Contains(why.Msg, want.why),
			p.LooksRegular() != want.regular:
			t.Errorf("%s: %v, looks regular: %v", pattern, why, p.LooksRegular())
		}
	}
}
