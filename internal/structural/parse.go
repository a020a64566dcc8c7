package structural

import (
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/show"
)

const (
	// MaxPattern is the longest pattern, in bytes.
	MaxPattern = 64 << 10
	// MaxExpression is the longest expression of a hole, in bytes.
	MaxExpression = 1000
	maxHoles      = 1000
)

// Error means that a pattern or a replacement cannot be used.
type Error struct {
	Msg, Hint string
}

func (e *Error) Error() string { return e.Msg }

func refuse(hint, format string, args ...any) *Error {
	return &Error{Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// hole is a hole of a pattern: :[name], :[name...], :[[name]] or :[name~expression].
type hole struct {
	group int // the number of its name from 1, 0 if its match is not kept
	many  bool
	word  bool
	expr  string
	re    *regexp.Regexp // expr for the whole match
	size  int            // of re in instructions, 0 without an expression
}

// plain reports whether the hole matches any text.
func (h hole) plain() bool { return !h.word && h.re == nil }

// Pattern is a text with holes. It is safe for concurrent use.
type Pattern struct {
	source string
	fold   bool
	lang   *Language // nil for the language of each file
	holes  []hole
	names  []string // of groups, the first is empty
	text   []byte   // the pattern with a private character for each hole
	size   int      // of the expressions of all holes, in instructions

	programs sync.Map // of *Language to *program
	matchers sync.Pool
	long     chan struct{} // has a value while a matcher processes a long text
}

// Parse reads a pattern. lang is the language of all texts; if it is nil, the name of each file selects the language.
// With fold, case is ignored. The error is an *Error.
func Parse(source string, lang *Language, fold bool) (*Pattern, error) {
	if len(source) > MaxPattern {
		return nil, refuse("", "structural pattern is too long (max %d bytes, got %d)", MaxPattern, len(source))
	}
	p := &Pattern{source: source, fold: fold, lang: lang, names: []string{""}, long: make(chan struct{}, 1)}
	if err := p.readHoles(); err != nil {
		return nil, err
	}
	_, err := p.program(table[rowGo])
	if err != nil && lang == nil {
		for i := range table { // a pattern may be code in one language only
			if _, other := p.program(table[i]); other == nil {
				return p, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// readHoles replaces the holes of the source by private characters.
func (p *Pattern) readHoles() *Error {
	if i := strings.IndexFunc(p.source, func(r rune) bool { return r >= holeRune }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(p.source[i:])
		return refuse("set mode to literal or regex, or write a hole for it",
			"the pattern has the private character %U, which stands for a hole", r)
	}
	for rest := p.source; rest != ""; {
		i := strings.Index(rest, ":[")
		if i < 0 {
			p.text = append(p.text, rest...)
			break
		}
		if i > 0 && rest[i-1] == ':' {
			p.text = append(append(p.text, rest[:i-1]...), ":["...)
			rest = rest[i+2:]
			continue
		}
		p.text = append(p.text, rest[:i]...)
		h, name, n, err := readHole(rest[i:])
		if err != nil {
			return err
		}
		if len(p.holes) == maxHoles {
			return refuse("match less with one pattern", "the pattern has too many holes (max %d)", maxHoles)
		}
		if p.size += h.size; p.size > MaxInstructions {
			return refuse("use smaller numbers in repetitions such as {1000}, or fewer of them",
				"the expressions of the holes are too large (max %d instructions, got %d)", MaxInstructions, p.size)
		}
		if h.size > 0 {
			h.re = regexp.MustCompile(whole(h.expr)) // readHole has parsed it
		}
		if name != "_" {
			if h.group = slices.Index(p.names, name); h.group < 0 {
				h.group = len(p.names)
				p.names = append(p.names, name)
			}
		}
		p.text = append(p.text, string(rune(holeRune+len(p.holes)))...)
		p.holes = append(p.holes, h)
		rest = rest[i+n:]
	}
	return nil
}

// readHole reads the hole at the beginning of s, and returns its name and length.
func readHole(s string) (h hole, name string, n int, bad *Error) {
	const hint = "write :[name], :[name...] for several lines, :[[name]] for a word, :[name~regex], or ::[ for the text :["
	inner, end := s[2:], "]"
	if strings.HasPrefix(inner, "[") {
		h.word, inner, end = true, inner[1:], "]]"
	}
	k := 0
	for k < len(inner) && isNameByte(inner[k]) {
		k++
	}
	name = inner[:k]
	n = len(s) - len(inner) + k
	wrong := refuse(hint, "the pattern has a :[ that begins no hole: %q", show.Name(s))
	if k == 0 || inner[0] >= '0' && inner[0] <= '9' {
		return h, name, n, wrong
	}
	rest := inner[k:]
	if strings.HasPrefix(rest, "...") && !h.word {
		h.many, rest, n = true, rest[3:], n+3
	} else if strings.HasPrefix(rest, "~") && !h.word {
		k := exprEnd(rest)
		if k < 0 {
			return h, name, n, refuse("write :[name~regex]", "the hole %q is not closed", show.Name(s))
		}
		h.expr = rest[1:k]
		tree, err := (*syntax.Regexp)(nil), error(nil)
		if len(h.expr) <= MaxExpression {
			tree, err = syntax.Parse(whole(h.expr), syntax.Perl)
		}
		if tree == nil || err != nil {
			return h, name, n, refuse("the syntax is RE2, as in :[n~[0-9]+]", "the expression of hole %q is not one",
				show.Name(s[:n+k+1]))
		}
		h.size, rest, n = Instructions(tree), rest[k:], n+k
	}
	if !strings.HasPrefix(rest, end) {
		return h, name, n, wrong
	}
	return h, name, n + len(end), nil
}

// whole returns an expression that matches where expr matches the whole text.
func whole(expr string) string { return `\A(?:` + expr + `)\z` }

// OpenExpression returns the rest of a text from the hole whose expression is not closed, "" if there is none.
func OpenExpression(s string) string {
	for {
		i := strings.Index(s, ":[")
		if i < 0 {
			return ""
		}
		k := i + 2
		if i == 0 || s[i-1] != ':' {
			for k < len(s) && isNameByte(s[k]) {
				k++
			}
			if k > i+2 && strings.HasPrefix(s[k:], "~") {
				end := exprEnd(s[k:])
				if end < 0 {
					return s[i:]
				}
				k += end
			}
		}
		s = s[k:]
	}
}

// exprEnd returns the index of the "]" that ends a hole with an expression, -1 if not found.
func exprEnd(s string) int {
	class := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if class { // as in [[:digit:]]
				name, _ := strings.CutPrefix(s[i:], "[:")
				if rest := strings.TrimLeft(name, "^abcdefghijklmnopqrstuvwxyz"); strings.HasPrefix(rest, ":]") {
					i = len(s) - len(rest) + 1
				}
				continue
			}
			class = true
			if strings.HasPrefix(s[i+1:], "^") {
				i++
			}
			if strings.HasPrefix(s[i+1:], "]") { // the first character of a class
				i++
			}
		case ']':
			if !class {
				return i
			}
			class = false
		}
	}
	return -1
}

func isNameByte(c byte) bool { return c < 0x80 && isWordRune(rune(c)) }

// Names returns the names of the kept holes, by the number of their group. The first name is empty and is the match
// itself.
func (p *Pattern) Names() []string { return p.names }

// Warning returns a warning if the pattern seems to have a hole in the syntax of another tool, or "".
func (p *Pattern) Warning() string {
	if p.lang != nil && strings.Contains(p.lang.words, "$") {
		return ""
	}
	found := foreign().FindStringSubmatch(string(p.text))
	if found == nil {
		return ""
	}
	hole := found[0]
	write := ":[" + strings.ToLower(strings.Trim(hole, "$")) + "]"
	switch {
	case found[1] != "":
		hole, write = found[1], ":[_...]"
	case strings.HasPrefix(hole, "$$$"):
		write = strings.TrimSuffix(write, "]") + "...]"
	}
	return fmt.Sprintf("%s in the pattern is text, not a hole: write %s for a hole", hole, write)
}

var foreign = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\$\$[A-Z_]+|\$[A-Z][A-Z0-9_]*|[(,{]\s*(\.\.\.)\s*[),}]`)
})

// program returns the pattern in tokens of a language.
func (p *Pattern) program(lang *Language) (*program, error) {
	if p.lang != nil {
		lang = p.lang
	}
	if known, ok := p.programs.Load(lang); ok {
		entry := known.(compiled)
		return entry.prog, entry.err
	}
	var l lexer
	l.pattern = true
	tokens, err := l.lex(context.Background(), p.text, lang)
	var prog *program
	if err == nil {
		prog, err = p.compile(tokens, lang)
	}
	p.programs.Store(lang, compiled{prog, err})
	return prog, err
}

type compiled struct {
	prog *program
	err  error
}
