// Package posix parses regular expressions in POSIX syntax to trees of package regexp/syntax, which package match runs.
//
// The syntax is extended or basic, with the additions of GNU: \+ \? and \| in basic expressions; \w \W \s \S \b \B \<
// \> \` and \' in both. The package refuses the same patterns as the C library (glibc 2.36), with the same messages,
// and also back-references. Classes are as in its locale C.UTF-8; ranges are between ASCII characters only.
package posix

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/match"
)

// maxBytes limits the length of a pattern, and maxNesting the nesting of its groups.
const (
	maxBytes   = 64 << 10
	maxNesting = 1000
)

// The messages that are used in several places: messages of the C library for patterns that it refuses, and own
// messages for other errors.
const (
	errUnmatchedBracket = "Unmatched [, [^, [:, [., or [="
	errInterval         = "Invalid content of \\{\\}"
	errRange            = "Invalid range end"
	errRepeatsNothing   = "Invalid preceding regular expression"
	errTooBig           = "Regular expression too big"
	errCollation        = "Invalid collation character"
	errBackReference    = "back-references in the pattern are not supported"
	errRawBracket       = "bytes that are not characters are not supported within [...]"
	errRawPattern       = "bytes that are not characters are not supported beside classes, words or the flag I"
)

// Error is the mistake in a pattern.
type Error struct {
	Text string // in the words of the C library if it has some
	At   int    // the index of the character at which it was noticed
	// Unsupported means that the C library would accept the pattern, and this package refuses it on purpose.
	Unsupported bool
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Options describes the syntax of a pattern. The zero value means extended syntax.
type Options struct {
	Basic      bool // basic syntax
	IgnoreCase bool // letters match in any case
	Lines      bool // ^ and $ also match at line ends; neither . nor [^...] matches a newline
	// MaxNodes limits the size of a pattern in nodes: a character or an operator is one node, and an interval counts as
	// its expansion.
	MaxNodes int
}

// Pattern is a parsed pattern.
type Pattern struct {
	Tree   *syntax.Regexp
	Groups int // number of pairs of parentheses
	Nodes  int // see [Options]
}

// parser parses one pattern in POSIX syntax, as the C library does, to a tree of package syntax.
type parser struct {
	chars []rune // a byte outside any character is a separate character, see [match.RawByte]
	Options

	at     int // after tok
	tok    token
	groups int
	nodes  int
	plain  bool              // no classes and no words so far, and case matters
	known  map[string][]rune // the ranges of classes
	where  int               // the index of the character with the error
	err    string
}

// Parse parses a pattern.
func Parse(pattern []byte, o Options) (*Pattern, *Error) {
	if len(pattern) > maxBytes {
		return nil, TooBig(0)
	}
	p := &parser{Options: o, plain: !o.IgnoreCase}
	raw := false
	for len(pattern) > 0 {
		r, n := utf8.DecodeRune(pattern)
		if r == utf8.RuneError && n == 1 {
			r, raw = match.RawByte+rune(pattern[0]), true
		}
		p.chars = append(p.chars, r)
		pattern = pattern[n:]
	}
	p.next(true)
	t := p.alternatives(0)
	if p.err == "" && raw && !p.plain {
		p.fail(errRawPattern)
	}
	if p.err != "" {
		return nil, &Error{p.err, p.where, p.err == errBackReference || p.err == errRawBracket ||
			p.err == errRawPattern}
	}
	return &Pattern{Tree: t, Groups: p.groups, Nodes: p.nodes}, nil
}

// TooBig returns the error for a pattern that is too large, after at characters.
func TooBig(at int) *Error { return &Error{Text: errTooBig, At: at} }

// fail stores the first error and ends the parse.
func (p *parser) fail(text string) *syntax.Regexp {
	if p.err == "" {
		p.err, p.where = text, p.tok.at
	}
	p.at = len(p.chars)
	p.tok = token{kind: tokEnd, at: p.at}
	return &syntax.Regexp{Op: syntax.OpNoMatch}
}

// grow counts nodes, one for each character and operator.
func (p *parser) grow(nodes int64) bool {
	if nodes > int64(p.MaxNodes-p.nodes) {
		p.fail(errTooBig)
		return false
	}
	p.nodes += int(nodes)
	return true
}

func (p *parser) op(op syntax.Op, sub ...*syntax.Regexp) *syntax.Regexp {
	p.grow(1)
	return &syntax.Regexp{Op: op, Sub: sub}
}

func (p *parser) literal(r rune) *syntax.Regexp {
	t := p.op(syntax.OpLiteral)
	t.Rune = []rune{r}
	if p.IgnoreCase {
		t.Flags = syntax.FoldCase
	}
	return t
}

func (p *parser) class(ranges []rune) *syntax.Regexp {
	t := p.op(syntax.OpCharClass)
	t.Rune = ranges
	return t
}

func (p *parser) ends(nest int) bool {
	return p.tok.kind == '|' || p.tok.kind == tokEnd || nest > 0 && p.tok.kind == ')'
}

func (p *parser) alternatives(nest int) *syntax.Regexp {
	all := []*syntax.Regexp{p.branch(nest)}
	for p.tok.kind == '|' {
		p.next(true)
		all = append(all, p.branch(nest))
	}
	if len(all) == 1 {
		return all[0]
	}
	p.grow(int64(len(all) - 2))
	return p.op(syntax.OpAlternate, all...)
}

// branch reads the text between two |.
func (p *parser) branch(nest int) *syntax.Regexp {
	t := &syntax.Regexp{Op: syntax.OpConcat}
	for !p.ends(nest) {
		before := p.tok.kind
		next := p.expression(nest)
		if n := len(t.Sub); n > 0 && before == tokChar && next.Op == syntax.OpLiteral &&
			t.Sub[n-1].Op == syntax.OpLiteral {
			t.Sub[n-1].Rune = append(t.Sub[n-1].Rune, next.Rune...)
			continue
		}
		t.Sub = append(t.Sub, next)
	}
	switch len(t.Sub) {
	case 0:
		return &syntax.Regexp{Op: syntax.OpEmptyMatch}
	case 1:
		return t.Sub[0]
	}
	return t
}

func (p *parser) expression(nest int) *syntax.Regexp {
	var t *syntax.Regexp
	size := p.nodes
	switch tok := p.tok; tok.kind {
	case tokBackslash:
		return p.fail("Trailing backslash")
	case tokBackReference:
		return p.fail(errBackReference)
	case tokAnchor:
		// An anchor cannot be repeated: a * after it is an error or a literal.
		t = p.anchor(tok.char)
		p.next(false)
		return t
	case '(':
		t = p.group(nest + 1)
	case '[':
		t = p.bracket()
	case '.':
		var not spans // all characters; the operator of package syntax would include stray bytes
		if p.Lines {
			not = spans{{'\n', '\n'}}
		}
		t = p.class(not.not().ranges())
	case tokClass:
		t = p.escapeClass(tok.char)
	case ')':
		return p.fail("Unmatched ) or \\)")
	case '{', '*', '+', '?':
		if !p.Basic || tok.kind == '{' {
			return p.fail(errRepeatsNothing)
		}
		t = p.literal(tok.char)
	default:
		t = p.literal(tok.char)
	}
	p.next(false)
	for p.tok.kind == '*' || p.tok.kind == '+' || p.tok.kind == '?' || p.tok.kind == '{' {
		t = p.repeat(t, p.nodes-size)
		if p.Basic && (p.tok.kind == '*' || p.tok.kind == '{') {
			return p.fail(errRepeatsNothing)
		}
	}
	return t
}

func (p *parser) anchor(r rune) *syntax.Regexp {
	p.plain = p.plain && !strings.ContainsRune("<>bB", r)
	ops := map[rune]syntax.Op{
		'^': syntax.OpBeginText, '`': syntax.OpBeginText, '$': syntax.OpEndText, '\'': syntax.OpEndText,
		'b': syntax.OpWordBoundary, 'B': syntax.OpNoWordBoundary,
	}
	if p.Lines {
		ops['^'], ops['$'] = syntax.OpBeginLine, syntax.OpEndLine
	}
	if op, ok := ops[r]; ok {
		return p.op(op)
	}
	p.grow(1)
	if r == '<' {
		return match.WordBegin()
	}
	return match.WordEnd()
}

func (p *parser) group(nest int) *syntax.Regexp {
	if nest > maxNesting {
		return p.fail("groups are nested too deeply (more than 1000)")
	}
	p.groups++
	number := p.groups
	p.next(true)
	t := p.alternatives(nest)
	if p.tok.kind != ')' {
		return p.fail("Unmatched ( or \\(")
	}
	t = p.op(syntax.OpCapture, t)
	t.Cap = number
	return t
}

func (p *parser) escapeClass(r rune) *syntax.Regexp {
	p.plain = false
	key := `\` + string(r)
	if p.known[key] == nil {
		name := "word"
		if r == 's' || r == 'S' {
			name = "space"
		}
		set := classes()[name]
		if r == 'W' || r == 'S' {
			set = set.not() // with a newline, regardless of the flag M
		}
		p.keep(key, set)
	}
	return p.class(p.known[key])
}

// keep stores the ranges of a class, because many can be the same. A long one counts as more than one node.
func (p *parser) keep(key string, set spans) {
	if p.known == nil {
		p.known = make(map[string][]rune)
	}
	p.known[key] = set.ranges()
	p.grow(int64(len(set) / 8))
}
