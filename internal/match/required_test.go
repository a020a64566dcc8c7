package match_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
)

// TestNeeds checks which texts are searched before a regular expression is run, and with which texts matches begin if
// they may cross line ends.
func TestNeeds(t *testing.T) {
	for _, test := range []struct{ pattern, needs, prefixes string }{
		{`func \(\w+ \*(\w+)\) Close\(\) error`, `) Close() error`, ``},
		{`fmt\.(Print|Sprint|Fprint)(f|ln)?\(`, `fmt.`, ``},
		{`Set(Id|Name)`, `Set`, ``},
		{`x(foo|bar)qz`, `qz`, ``},
		{`ee(q|z)ee`, `eeqee eezee`, ``},
		{`[Gg]olang`, `olang`, ``},
		{`(ab)+q`, `abq`, ``},
		{`z{3}`, `zzz`, ``},
		{`z{3,}`, `zzz`, ``},
		{`z{0,2}`, ``, ``},
		{`z?q+x`, `qx`, ``},
		{`(?i)recieve`, `~recieve`, ``},
		{`(?i)masker`, "~masker \u212a \u017f", ``},
		{`(?i)kk`, "~kk \u212a", ``},
		{`(?i)x世é7q`, `~x世`, ``},
		{`(?i)123`, `123`, ``},
		{`\x{FFFD}q`, `q`, ``},
		{`foo|`, ``, ``},
		{`.*`, ``, ``},
		{`foo\s+bar`, `bar`, `foo`},
		{`(?:foo|qux)\s+x`, `foo qux`, `foo qux`},
		{`(?i)fow\s+x`, `~fow`, `~fow`},
		{`(?i)fok\s+x`, "~fok \u212a", ``},
		{`\bqux[^;]+;`, `qux`, `qux`},
		{`(foo)*\s+x`, `x`, ``},
		{`(?:qux)+[^;]`, `qux`, `qux`},
		{`(?s)/\*.*?\*/`, `/*`, `/*`},
		{`\Aqux\s`, `qux`, ``},
		{strings.Repeat("x", 50) + `\s`, strings.Repeat("x", 32), strings.Repeat("x", 32)},
		{`(?m)qux\n\n$`, `qux`, ``},
	} {
		p := compile(t, test.pattern, match.Regex, match.Flags{})
		if got, want := match.Needs(p), strings.Fields(test.needs); !slices.Equal(got, want) && len(got)+len(want) > 0 &&
			strings.Join(got, " ") != test.needs {
			t.Errorf("%s: needs %q, want %q", test.pattern, got, want)
		}
		if got, want := match.Prefixes(p), strings.Fields(test.prefixes); !slices.Equal(got, want) {
			t.Errorf("%s: prefixes %q, want %q", test.pattern, got, want)
		}
	}
}
