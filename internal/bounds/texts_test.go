package bounds_test

import (
	"fmt"
	"strings"
)

func repeat(text string, n int) string { return strings.Repeat(text, n) }

// pattern returns a text or a regular expression, and its mode.
func (g *generator) pattern() (pattern, mode string) {
	if g.one(2) {
		return g.literal(), "literal"
	}
	return g.regex(), "regex"
}

func (g *generator) literal() string {
	return g.pick("a", "a", "\n", "aa", " ", "e", g.some("a"), g.some("ab"), g.some("\n"), "a b\r\n", "foo", "x", g.some("one line, no end "), "never there")
}

// regex returns a regular expression that is large, has many matches, or takes long.
func (g *generator) regex() string {
	atom := func() string {
		return g.pick("a", "a", ".", `\w`, `[^b]`, `\b`, "^", "$", `(a|aa)`, "(.*)", ".*", `(?:x?){1000}`, `a{1000}`, `[a-z]{1,200}`, `(?s:.)`, `(?m:^)`,
			`(\w+)\s+`, `\pL`, `(?i:k)`, "x*", `(?:a{30}){30}`, `(a*)*`, `(?:)`, `\S+\n`, `[[:alpha:]]`, `é|日`, `(?s:.*)`, "\n")
	}
	switch g.IntN(5) {
	case 0:
		return atom()
	case 1:
		return g.some(atom())
	case 2:
		var words []string
		for i := range g.count(g.room / 12) {
			words = append(words, fmt.Sprint(g.pick("a", "foo", "(b)", "c.*"), i))
		}
		return strings.Join(words, "|")
	case 3:
		n := g.count(100)
		return repeat("(", n) + atom() + repeat(")"+g.pick("", "*", "+", "?", "{2}"), n)
	default:
		var b strings.Builder
		for range 1 + g.IntN(6) {
			b.WriteString(atom())
		}
		return b.String()
	}
}

func (g *generator) replacement() string {
	return g.pick("", "", "b", "$0", "$0$0", "$1", g.some("$0"), g.some("${1}"), g.some("y"), "\n", g.some("$0\n"), g.words())
}

// words returns a text, perhaps with results of earlier steps.
func (g *generator) words() string {
	if len(g.steps) == 0 {
		return g.pick("", "b", "\n", g.some("y"), g.some("\n"), g.some("long text "))
	}
	ref := "{{" + g.earlier() + "." + g.pick("files", "count", "aggregated_content", "edits", "risk", "files") + "}}"
	return g.pick("", "b", g.some("y"), g.some("\n"), ref, ref+"\n", g.some(ref))
}

// glob returns a glob that is large or takes long.
func (g *generator) glob() string {
	return g.pick("*", "**", "**/*.txt", g.some("**/")+"*", g.some("*a")+"*", g.some("?"), g.some("[a-z]"), g.some("{a,b}"), g.some("{a,{b,")+"*",
		"{"+g.some("f*,")+"*}", "d*/**/f*", g.some("**/f*/")+"x", "{**/*,*,f*}{.txt,}")
}

// script returns a sed script that is large, grows its text, or does not end.
func (g *generator) script() any {
	one := func() string {
		return g.pick(`s/a/b/g`, `s/a/aa/g`, `s/.*/&&/`, `p`, `p;p;p;p`, `s/[^b]*/x/g`, `y/abc/xyz/`, `/a/,/x/d`, `s/(.*)(.*)(.*)/\3\2\1/`,
			`s/\(.*\)\(.*\)\(.*\)/\3\2\1/`, `s/(a|aa)*$/x/`, `s/^/&&&&/`, `s/$/\n\n/`, `=`, `i\`+"\n"+g.words(), `a\`+"\n"+g.words(), `c\`+"\n"+g.words(),
			`s/x*/-/g`, `/^$/d`, `s/./`+g.some("&")+`/g`, `s/`+strings.ReplaceAll(g.regex(), "/", `\/`)+`/`+g.some("y")+`/g`, `s/a/`+g.some("&")+`/g`,
			`/`+g.some("a*")+`b/d`, `s/(a*)\1/x/g`, `s/(a*)*b/x/`, `2,$s/e/f/5`, `1,1000p`, `s/a//g`, `s/[[:alpha:]]{1,200}/<&>/g`, `s/(.)(.)/\2\1/g`,
			`s/a/b/`+fmt.Sprint(1+g.IntN(1<<30)))
	}
	switch g.IntN(4) {
	case 0, 1:
		return one()
	case 2:
		return g.some(one() + "\n")
	default:
		var list []string
		for range g.count(20) {
			list = append(list, one())
		}
		return list
	}
}
