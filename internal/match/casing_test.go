package match_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
)

// TestEscapes has replacements with escapes, and their results. GNU sed has the same result for each row that it
// supports, in its own syntax of groups.
func TestEscapes(t *testing.T) {
	t.Parallel()
	sed, err := exec.LookPath("sed")
	for _, test := range []struct{ pattern, replacement, text, want, sed string }{
		{`, `, `\n`, "a, b", "a\nb", `\n`},
		{`, `, `\n`, "a, b\r\nc, d\r\n", "a\r\nb\r\nc\r\nd\r\n", ""},
		{`, `, `\r\n`, "a, b\n", "a\r\nb\n", `\r\n`},
		{`, `, `\t`, "a, b", "a\tb", `\t`},
		{`, `, `\\`, "a, b", `a\b`, `\\`},
		{`, `, `\\n`, "a, b", `a\nb`, `\\n`},
		{`(a), `, `\$1 $1`, "a, b", `$1 ab`, `$1 \1`},
		{`, `, `\x41\x00`, "a, b", "aA\x00b", ""},
		{`, `, `\u{e9}\u{1F600}`, "a, b", "aé😀b", ""},
		{`(\w+) (\w+)`, `\U$1\E $2`, "one two", "ONE two", `\U\1\E \2`},
		{`(\w+) (\w+)`, `\u$1 \u$2`, "one two", "One Two", `\u\1 \u\2`},
		{`(\w+) (\w+)`, `\L\u$1 $2`, "oNE tWO", "One two", `\L\u\1 \2`},
		{`(\w+) (\w+)`, `\u\L$1 $2`, "oNE tWO", "One two", ""},
		{`(\w+) (\w+)`, `\U\l$1$2`, "One Two", "oNETWO", `\U\l\1\2`},
		{`(x?)(\w+)`, `\u$1$2`, "one", "One", `\u\1\2`},
		{`(x)?(\w+)`, `\u$1$2`, "one", "One", ""},
		{`\w+`, `\Upre$0\Epost`, "one", "PREONEpost", `\Upre&\Epost`},
		{`\w+`, `\upre$0`, "one", "Preone", `\upre&`},
		{`\w+`, `\l\n$0`, "ONE", "\nONE", ""},
		{`.+`, `\U$0`, "straße ǆ \xff é", "STRAßE Ǆ \xff É", ""},
		{`\w+`, `\L`, "ONE", "", `\L`},
	} {
		p := compile(t, test.pattern, match.Regex, match.Flags{})
		tmpl, err2 := match.ParseTemplate(test.replacement, p.Parsed)
		if err2 != nil {
			t.Errorf("%q: %v", test.replacement, err2)
			continue
		}
		var out []byte
		end := 0
		how := match.How{Template: &tmpl, Groups: true}
		err2 = p.Find(t.Context(), match.Bytes(test.text), how, func(at *match.Window, loc []int) bool {
			out = append(append(out, test.text[end:loc[0]]...), p.Replacer(tmpl, at).Replace(loc)...)
			end = loc[1]
			return true
		})
		if got := string(out) + test.text[end:]; got != test.want || err2 != nil {
			t.Errorf("%q -> %q in %q: got %q (%v), want %q", test.pattern, test.replacement, test.text, got, err2, test.want)
		}
		if test.sed == "" || err != nil {
			continue
		}
		cmd := exec.Command(sed, "-E", "s/"+test.pattern+"/"+test.sed+"/g")
		cmd.Stdin, cmd.Env = strings.NewReader(test.text), []string{"LC_ALL=C.UTF-8"}
		theirs, err3 := cmd.Output()
		if err3 != nil || string(theirs) != test.want {
			t.Errorf("sed %q in %q: got %q (%v), want %q", test.sed, test.text, theirs, err3, test.want)
		}
	}
}
