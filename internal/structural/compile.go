package structural

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/show"
)

// program is a pattern in tokens of a language. It is immutable.
type program struct {
	items   []item
	holes   int  // items that are open holes; each has a row in the table of places
	counted bool // the table cannot be used: a name occurs twice, or a hole has an expression
	run     *run // texts in a row in every match, nil if they are not known
}

// item is a token of a pattern, or a hole.
type item struct {
	kind  kind // kindHole, or the kind of a token of the text
	text  []byte
	touch touch
	line  bool // the pattern has a line end before it
	// Of a string or comment with holes: expr matches the whole token, and groups are the groups of its submatches.
	// repeats are the groups whose name occurred before.
	expr    *regexp.Regexp
	groups  []int
	repeats []bool
	// Of a hole:
	hole
	row  int
	deep bool // the pattern has opened a bracket around it
	last bool
	same bool // the name occurred before: the hole must match the same text again
}

// touch describes whether two operator characters are adjacent.
type touch uint8

const (
	touchAny touch = iota
	touchYes
	touchNo
)

// compile makes a program from the tokens of the pattern.
func (p *Pattern) compile(tokens []token, lang *Language) (*program, error) {
	prog := &program{}
	seen := make([]bool, len(p.names))
	literals, depth := 0, 0
	for i, t := range tokens {
		it := item{kind: t.kind, text: p.text[t.start:t.end], line: t.line && i > 0}
		switch t.kind {
		case kindBroken:
			return nil, p.brokenError(t)
		case kindOpen:
			depth++
		case kindClose:
			depth--
		case kindHole:
			r, _ := utf8.DecodeRune(it.text)
			it.hole = p.holes[r-holeRune]
			it.deep, it.last = depth > 0, i == len(tokens)-1
		case kindString, kindComment:
			if err := p.inside(&it); err != nil {
				return nil, err
			}
		}
		if i > 0 {
			it.touch = touching(tokens[i-1], t, p.text)
			if before := prog.items[i-1]; before.kind == kindHole && it.kind == kindHole && before.plain() &&
				it.plain() {
				return nil, refuse("put text between them, or use one hole",
					"two holes stand next to each other, so that nothing says where the first one ends")
			}
		}
		if it.kind != kindHole {
			literals++
		}
		it.same = it.group > 0 && seen[it.group]
		prog.counted = prog.counted || it.same
		seen[it.group] = true
		for _, g := range it.groups {
			it.repeats = append(it.repeats, g > 0 && seen[g])
			prog.counted = prog.counted || g > 0 && seen[g]
			seen[g] = true
		}
		if it.kind == kindHole && !it.word && !it.same {
			it.row = prog.holes
			prog.holes++
			prog.counted = prog.counted || it.re != nil
		}
		prog.items = append(prog.items, it)
	}
	if literals == 0 {
		return nil, refuse("write some of the code around the hole", "the pattern is nothing but holes")
	}
	prog.run = p.runOf(prog.items, lang)
	return prog, nil
}

// brokenError reports a token of the pattern that does not lex.
func (p *Pattern) brokenError(t token) *Error {
	text := show.Name(string(p.text[t.start:t.end]))
	switch {
	case strings.ContainsAny(text[:1], "([{<"):
		return refuse("write the other bracket too, with :[x] or :[x...] between them",
			"the pattern opens %s and does not close it", text)
	case strings.ContainsAny(text[:1], ")]}>"):
		return refuse("write the other bracket too, with :[x] or :[x...] between them",
			"the pattern closes %s and does not open it", text)
	}
	return refuse("write a whole string or comment, or set mode to literal",
		"the pattern has a string without an end: %s",
		text)
}

// touching reports whether two tokens of a pattern are adjacent, if both could be parts of one operator.
func touching(before, t token, text []byte) touch {
	if t.kind != kindOperator && t.kind != kindHole || before.kind != kindOperator && before.kind != kindHole {
		return touchAny
	}
	if separates(text[before.start]) || separates(text[t.start]) {
		return touchAny
	}
	switch {
	case before.end != t.start:
		return touchNo
	case before.kind == kindHole || t.kind == kindHole:
		return touchAny
	}
	return touchYes
}

// separates reports whether a character is never a part of a longer operator.
func separates(c byte) bool { return c == ',' || c == ';' }

// inside compiles the holes within a string or a comment.
func (p *Pattern) inside(it *item) error {
	mark := []byte(string(rune(holeRune)))[:2] // the first bytes of all characters for holes
	if !bytes.Contains(it.text, mark) {
		return nil
	}
	expr, plain := strings.Builder{}, 0
	expr.WriteString(`(?s)\A`)
	if p.fold {
		expr.WriteString(`(?i)`)
	}
	last := false // the last part was a hole for any text
	for rest := it.text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r < holeRune || int(r-holeRune) >= len(p.holes) {
			expr.WriteString(regexp.QuoteMeta(string(rest[:n])))
			rest, last = rest[n:], false
			plain++
			continue
		}
		h := p.holes[r-holeRune]
		if last && h.plain() {
			return refuse("put text between them, or use one hole",
				"two holes stand next to each other, so that nothing says where the first one ends")
		}
		switch last = h.plain(); {
		case h.word:
			expr.WriteString(`([\pL\p{Nd}\pM_]+)`)
		case h.re != nil:
			expr.WriteString(`((?:` + h.expr + `))`)
		default:
			expr.WriteString(`(.*?)`)
		}
		it.groups = append(it.groups, h.group)
		// The groups in the expression of a hole are not groups of the pattern.
		for range regexpGroups(h) {
			it.groups = append(it.groups, 0)
		}
		rest = rest[n:]
	}
	expr.WriteString(`\z`)
	re, err := regexp.Compile(expr.String())
	if err != nil || plain == 0 {
		return refuse("use fewer holes in it", "the string %q is too complicated", show.Name(p.source))
	}
	it.expr = re
	return nil
}

func regexpGroups(h hole) int {
	if h.re == nil {
		return 0
	}
	return h.re.NumSubexp()
}

// Literals returns texts that every match in every language contains, in lower case if case is ignored. Each text is a
// single word, so that it is found in any layout.
func (p *Pattern) Literals() []string {
	var all []string
	for _, word := range strings.FieldsFunc(string(p.text),
		func(r rune) bool { return r >= holeRune || !isWordRune(r) }) {
		if p.fold {
			word = strings.ToLower(word)
		}
		all = append(all, word)
	}
	return all
}
