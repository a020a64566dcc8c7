package posix_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/posix"
)

// TestTrees: the meaning of patterns, in the syntax of package regexp.
func TestTrees(t *testing.T) {
	t.Parallel()
	basic, fold, lines := posix.Options{Basic: true}, posix.Options{IgnoreCase: true}, posix.Options{Lines: true}
	for _, test := range []struct {
		options       posix.Options
		pattern, want string
	}{
		{posix.Options{}, `a+b|(c{2,})?`, `a+b|(c{2,})?`},
		{basic, `a\+b\|\(c\{2,\}\)\?`, `a+b|(c{2,})?`},
		{basic, `a+(b|{`, `a\+\(b\|\{`},
		{basic, `*a\(*b\|*c\)`, `\*a(\*b|\*c)`},
		{basic, `a^b$c^*$`, `a\^b\$c\^*\z`},
		{posix.Options{}, `^a$|\` + "`" + `b\'`, `\Aa\z|\Ab\z`},
		{lines, `^a$|[^b]`, `(?m:^a$|[^\nb\x{d800}-\x{dfff}])`},
		{posix.Options{}, `[]a-c]|[^]]`, `[\]a-c]|[^\]\x{d800}-\x{dfff}]`},
		{posix.Options{}, `[[:digit:][.-.]]x{0}`, `[\-0-9]x{0}`},
		{fold, `[^a]q`, `(?i:[^Aa\x{d800}-\x{dfff}]q)`},
		{posix.Options{}, `(a|)()*`, `(a|(?:))()*`},
	} {
		test.options.MaxNodes = 1000
		p, err := posix.Parse([]byte(test.pattern), test.options)
		if err != nil {
			t.Errorf("%q: %v", test.pattern, err)
			continue
		}
		if got := p.Tree.String(); got != test.want || p.Groups != p.Tree.MaxCap() {
			t.Errorf("%q: %s with %d groups, want %s", test.pattern, got, p.Groups, test.want)
		}
	}
}

// TestClasses: in ASCII, the classes are those of every C library.
func TestClasses(t *testing.T) {
	t.Parallel()
	const digits, letters, marks = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	for class, want := range map[string]string{
		"[[:alpha:]]": letters + "éñǅ٣\u0345", "[[:digit:]]": digits, "[[:alnum:]]": digits + letters + "é٣", "[[:upper:]]": letters[:26] + "ÉǅⅣ", "[[:lower:]]": letters[26:] + "éñßǅ",
		"[[:punct:]]": marks + "€\u00a0—", "[[:space:]]": " \t\n\v\f\r\u2028", "[[:blank:]]": " \t", "[[:xdigit:]]": digits + "ABCDEFabcdef", "[[:graph:]]": digits + letters + marks + "éñßǅÉ€٣Ⅳ\u00a0—",
		"[[:print:]]": digits + letters + marks + " éñßǅÉ€٣Ⅳ\u00a0—", "[[:cntrl:]]": "\x00\x01\t\n\v\f\r\x7f\u2028", `\w`: digits + letters + "_éñßǅÉ٣Ⅳ", `\s`: " \t\n\v\f\r\u2028",
	} {
		p, err := posix.Parse([]byte(class), posix.Options{MaxNodes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		re, failed := match.CompileLongest(p.Tree, posix.Words())
		if failed != nil {
			t.Fatal(failed)
		}
		for _, r := range digits + letters + marks + " \x00\x01\t\n\v\f\r\x7f\u2028éñßǅÉ€٣Ⅳ\u0345\u00a0—" {
			got, failed := re.Contains(t.Context(), []byte(string(r)))
			if failed != nil {
				t.Fatal(failed)
			}
			if ascii := r < 0x80; ascii && got != strings.ContainsRune(want, r) || !ascii && strings.ContainsRune(want, r) && !got {
				t.Errorf("%s has %q: %v", class, r, got)
			}
		}
	}
}

// TestRefused: the error has the mistake, its position, and whether the syntax is only unsupported.
func TestRefused(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]posix.Error{
		`ab(c`:      {Text: `Unmatched ( or \(`, At: 4},
		`(a)\1`:     {Text: "back-references in the pattern are not supported", At: 3, Unsupported: true},
		"a[\xe9]":   {Text: "bytes that are not characters are not supported within [...]", At: 1, Unsupported: true},
		`a{40}{40}`: {Text: "Regular expression too big", At: 9},
	} {
		if _, err := posix.Parse([]byte(pattern), posix.Options{MaxNodes: 1000}); err == nil || *err != want {
			t.Errorf("%q: %+v, want %+v", pattern, err, want)
		}
	}
}
