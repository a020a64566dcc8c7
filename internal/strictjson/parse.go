package strictjson

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/nearest"
)

// Limits bound the texts that Parse accepts. Zero or less means the default.
type Limits struct {
	// MaxBytes is the length of the text; the default is 16 MiB.
	MaxBytes int
	// MaxDepth is how deeply lists and objects may be nested; the default is 100, and more than 10,000 means 10,000.
	MaxDepth int
	// MaxValues is the number of values in the text, of all kinds and on all levels; the default is 262,144.
	MaxValues int
}

const (
	defaultBytes  = 16 << 20
	defaultDepth  = 100
	defaultValues = 1 << 18
	mostDepth     = 10_000 // encoding/json has the same limit
)

// Parse reads one JSON value that fills all of data. The error is a [*SyntaxError] for the first mistake in the text,
// but invalid UTF-8 anywhere in the text is reported before other mistakes. The tree shares no memory with data.
func Parse(data []byte, limits Limits) (*Node, error) {
	limits.MaxBytes = cmp.Or(max(limits.MaxBytes, 0), defaultBytes)
	limits.MaxValues = cmp.Or(max(limits.MaxValues, 0), defaultValues)
	limits.MaxDepth = maxDepth(limits.MaxDepth)
	if len(data) > limits.MaxBytes {
		msg := fmt.Sprintf("the text is too large: %d bytes, at most %d are allowed", len(data), limits.MaxBytes)
		return nil, &SyntaxError{Msg: msg, Err: ErrTooLarge}
	}
	p := &parser{data: data, limits: limits}
	return p.document(nil)
}

type parser struct {
	data   []byte
	pos    int
	depth  int
	values int
	names  []map[string]bool // of the open objects, by depth; nil for objects with few members
	limits Limits
	// check is for [Check]: values must have a shape, and are not kept. All values at the same depth then share one node,
	// in nodes.
	check bool
	nodes []*Node
}

// fail returns a *SyntaxError as an error. The conversion is here, once, so that no typed nil is returned.
func (p *parser) fail(offset int, format string, args ...any) error {
	return p.failAs(nil, offset, format, args...)
}

func (p *parser) failAs(cause error, offset int, format string, args ...any) error {
	line, column := LineColumn(p.data, offset)
	return &SyntaxError{Offset: offset, Line: line, Column: column, Msg: fmt.Sprintf(format, args...), Err: cause}
}

func (p *parser) checkEncoding() error {
	if len(p.data) >= 3 && string(p.data[:3]) == "\ufeff" {
		return p.fail(0, "the text starts with a byte order mark: save it as UTF-8 without one")
	}
	if utf8.Valid(p.data) {
		return nil
	}
	for i := 0; i < len(p.data); {
		r, size := utf8.DecodeRune(p.data[i:])
		if r == utf8.RuneError && size == 1 {
			return p.fail(i, "byte 0x%02x is not valid UTF-8", p.data[i])
		}
		i += size
	}
	return nil
}

func (p *parser) document(shape *Shape) (*Node, error) {
	if err := p.checkEncoding(); err != nil {
		return nil, err
	}
	p.space()
	if p.pos == len(p.data) {
		return nil, p.fail(p.pos, "the text is empty")
	}
	root, err := p.value(shape)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.data) {
		return nil, p.fail(p.pos, "%s after the end of the JSON value", p.found())
	}
	return root, nil
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end. 0 is never valid.
func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) found() string {
	if p.pos >= len(p.data) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	return fmt.Sprintf("%q", r)
}

func (p *parser) value(shape *Shape) (*Node, error) {
	if p.values++; p.values > p.limits.MaxValues && !p.check {
		return nil, p.failAs(ErrTooLarge, p.pos, "the text has more than %d values", p.limits.MaxValues)
	}
	n := p.node()
	var err error
	switch c := p.peek(); {
	case c == '{':
		n.Kind = Object
		err = p.nested(n, shape, '}', p.member)
	case c == '[':
		n.Kind = Array
		err = p.nested(n, shape, ']', p.elem)
	case c == '"':
		n.Kind = String
		n.Text, err = p.text()
	case c == '-' || '0' <= c && c <= '9':
		n.Kind = Number
		n.Number, err = p.number()
	case letter(c):
		err = p.word(n)
	default:
		err = p.noValue()
	}
	n.End = p.pos
	if err == nil && shape != nil && !shape.any && n.Kind != Null && n.Kind != Array && n.Kind != Object {
		err = p.fail(n.Offset, "expected %s, found a %s", shape.word(), n.Kind)
	}
	return n, err
}

// node returns a node for the next value.
func (p *parser) node() *Node {
	if !p.check {
		return &Node{Offset: p.pos}
	}
	if p.depth == len(p.nodes) {
		p.nodes = append(p.nodes, new(Node))
	}
	n := p.nodes[p.depth]
	*n = Node{Offset: p.pos, Members: n.Members[:0]}
	return n
}

// noValue reports the mistake at the place of an expected value.
func (p *parser) noValue() error {
	switch p.peek() {
	case '\'', '`':
		return p.fail(p.pos, "expected a value, found %s: strings and names need double quotes", p.found())
	case '/', '#':
		return p.fail(p.pos, "expected a value, found %s: comments are not allowed in JSON", p.found())
	case '+', '.':
		return p.fail(p.pos, "expected a value, found %s: a number starts with a digit or '-'", p.found())
	default:
		return p.fail(p.pos, "expected a value, found %s", p.found())
	}
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' }

func (p *parser) word(n *Node) error {
	start := p.pos
	for letter(p.peek()) || '0' <= p.peek() && p.peek() <= '9' {
		p.pos++
	}
	word := string(p.data[start:p.pos])
	switch word {
	case "null":
		return nil
	case "true", "false":
		n.Kind, n.Bool = Bool, word == "true"
		return nil
	}
	if near, ok := nearest.Of(word, []string{"true", "false", "null"}); ok {
		return p.fail(start, "expected a value, found the word %s: did you mean %s?", quoted(word), near)
	}
	return p.fail(start, "expected a value, found the word %s: strings and names need double quotes", quoted(word))
}
