package match_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// grammar makes random regular expressions.
type grammar struct{ *rand.Rand }

func (g grammar) one(of ...string) string { return of[g.IntN(len(of))] }

// regex returns a regular expression, which may not compile.
func (g grammar) regex() string {
	flags := ""
	if g.IntN(2) == 0 {
		flags = "(?" + g.one("i", "m", "s", "im", "ms", "ims", "U", "m", "m") + ")"
	}
	return flags + g.alternation(3)
}

func (g grammar) alternation(depth int) string {
	if g.IntN(4) > 0 {
		return g.concatenation(depth)
	}
	parts := make([]string, 2+g.IntN(3))
	for i := range parts {
		parts[i] = g.concatenation(depth)
	}
	return strings.Join(parts, "|")
}

func (g grammar) concatenation(depth int) string {
	var b strings.Builder
	for range g.IntN(4) + g.IntN(2) {
		b.WriteString(g.repetition(depth))
	}
	return b.String()
}

func (g grammar) repetition(depth int) string {
	atom := g.atom(depth)
	switch g.IntN(12) {
	case 0:
		atom += "*"
	case 1:
		atom += "+"
	case 2:
		atom += "?"
	case 3:
		low := g.IntN(4)
		atom += g.one(fmt.Sprintf("{%d}", low), fmt.Sprintf("{%d,}", low), fmt.Sprintf("{%d,%d}", low, low+g.IntN(4)))
	default:
		return atom
	}
	if g.IntN(4) == 0 {
		atom += "?"
	}
	return atom
}

func (g grammar) atom(depth int) string {
	switch n := g.IntN(20); {
	case n < 7:
		return g.one("a", "b", "c", "k", "s", "A", "S", "_", "1", "é", "ſ", "\u212a", "世", "\U0001f600", `\x{FFFD}`)
	case n < 9:
		return g.one("abc", "foo", "ask", "sk", "bab", "a b", "世界", "é1")
	case n < 11:
		return g.one(".", "[ab]", "[^a]", "[a-c1]", "[^\n]", `[^\r\n]`, "[é-ü]", "[^é]", "[ſ世]", "[[:alpha:]]", `\pL`,
			`\p{Greek}`, `[\x{FFFD}a]`, `[^\x00-\x{10FFFF}]`)
	case n < 13:
		return g.one(`\w`, `\W`, `\d`, `\s`, `\S`, `\D`)
	case n < 15:
		return g.one("^", "$", `\b`, `\B`, `\A`, `\z`, "(?m:^)", "(?m:$)")
	case n < 16:
		return g.one("\n", `\r`, " ", "\t", `\n`, ",")
	case depth == 0:
		return "b"
	case n < 18:
		return g.one("(", "(?:", "(?P<n>", "(?i:", "(?s:", "(?m:") + g.alternation(depth-1) + ")"
	default:
		return "(?:" + g.alternation(depth-1) + ")"
	}
}

// grammarTexts are the parts of the texts that random patterns search.
var grammarTexts = []string{
	"a", "b", "c", "k", "s", "A", "S", "_", "1", " ", ",", "\t", "abc", "foo", "ask", "bab", "a b", "\n", "\n", "\n", "\r\n", "\r\n", "\r", "\r\r\n",
	"é", "ſ", "\u212a", "世", "世界", "\U0001f600", "É1", "\ufffd", "\xff", "\xe4\xb8", "\xe4", "\x96", "\xf0\x9f\x98", "\xc3", "\xed\xa0\x80", "\xc0\x80",
}

// text returns a text of up to most pieces. Some have only few kinds of pieces, so that these are frequent.
func (g grammar) text(most int) []byte {
	from := grammarTexts
	if g.IntN(3) > 0 {
		from = make([]string, 1+g.IntN(6))
		for i := range from {
			from[i] = grammarTexts[g.IntN(len(grammarTexts))]
		}
	}
	if g.IntN(8) == 0 {
		from = append(from, "\n")
	}
	return []byte(randomText(g.Rand, from, most))
}
