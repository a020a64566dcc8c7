package mend

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// Repair is the repair of one kind of mistake.
type Repair struct {
	// Offset is the place in the text, the first one if there are several.
	Offset int
	// Done describes the repair, in the past tense.
	Done string
	// Advice describes what to write instead.
	Advice string
}

// Mended is a text with its repairs.
type Mended struct {
	// Text is the repaired text, or the original text if nothing was repaired.
	Text []byte
	// Repairs has an entry for each kind of repair, in the order of their first places.
	Repairs []Repair

	marks []mark
}

// mark is the origin of a piece of the mended text.
type mark struct {
	out, in int
	copied  bool // copied from the input, not inserted
}

// Origin converts an offset in the mended text to an offset in the original text.
func (m *Mended) Origin(offset int) int {
	i := sort.Search(len(m.marks), func(i int) bool { return m.marks[i].out > offset }) - 1
	switch {
	case i < 0:
		return offset
	case m.marks[i].copied:
		return m.marks[i].in + offset - m.marks[i].out
	default:
		return m.marks[i].in
	}
}

// JSON mends a text that is not JSON. The result need not be JSON: parts that cannot be mended stay unchanged. The
// error is a [*strictjson.SyntaxError] for a text that is ambiguous or was truncated. It takes time linear in the
// length of the text.
func JSON(data []byte) (*Mended, error) { return mendText(data, mostEscaped) }

// mostEscaped is how many times a text may be escaped too often.
const mostEscaped = 2

func mendText(data []byte, escaped int) (*Mended, error) {
	first := start(data)
	if first < 0 || !utf8.Valid(data) {
		return &Mended{Text: data}, nil
	}
	if escaped > 0 && escapedQuote().Match(data[first+1:]) {
		plain, err := unescape(data, first)
		if err != nil {
			return nil, err
		}
		inner, err := mendText(plain.Text, escaped-1)
		if err != nil {
			return nil, plain.Moved(err, data)
		}
		return inner.after(plain), nil
	}
	s := &scanner{in: data, pos: first}
	s.before(data[:first])
	if s.err == nil {
		s.value()
	}
	if s.err == nil && !s.stuck {
		s.behind()
	}
	if s.err != nil {
		return nil, s.err
	}
	s.copyTo(len(data)) // the unreadable rest, which the strict parser will report
	return s.mended(), nil
}

func (s *scanner) mended() *Mended { return &Mended{Text: s.out, Repairs: s.repairs, marks: s.marks} }

// start returns the offset of the object, or -1: the first brace, or the brace in a code fence if other text precedes
// it.
func start(data []byte) int {
	first := bytes.IndexByte(data, '{')
	i := bytes.Index(data, []byte(fence))
	if i < 0 || i < first || len(bytes.TrimSpace(bytes.TrimPrefix(data[:max(first, 0)], []byte("\ufeff")))) == 0 {
		return first
	}
	rest := bytes.TrimLeft(data[i+len(fence):], "abcdefghijklmnopqrstuvwxyz0123456789 \t\r\n")
	if len(rest) > 0 && rest[0] == '{' {
		return len(data) - len(rest)
	}
	return first
}

// Moved converts the place of an error from the mended text to the original one.
func (m *Mended) Moved(err error, data []byte) error {
	syntax, ok := err.(*strictjson.SyntaxError)
	if !ok {
		return err
	}
	c := *syntax
	c.Offset = m.Origin(c.Offset)
	c.Line, c.Column = strictjson.LineColumn(data, c.Offset)
	return &c
}

// after combines the repairs of both; m mends the result of plain.
func (m *Mended) after(plain *Mended) *Mended {
	c := &Mended{Text: m.Text, Repairs: plain.Repairs, marks: plain.marks}
	for _, r := range m.Repairs {
		r.Offset = plain.Origin(r.Offset)
		c.Repairs = append(c.Repairs, r)
	}
	if m.marks != nil {
		c.marks = make([]mark, len(m.marks))
		for i, k := range m.marks {
			c.marks[i] = mark{out: k.out, in: plain.Origin(k.in), copied: k.copied}
		}
	}
	return c
}

// scanner reads a text leniently and writes JSON.
type scanner struct {
	in      []byte
	pos     int
	done    int // everything before it has been written or omitted
	out     []byte
	marks   []mark
	repairs []Repair
	open    []opened
	last    byte // the last byte of the last value or bracket read
	fenced  bool
	stuck   bool // reading cannot go on
	err     error
}

// opened is a list or an object that is still open.
type opened struct {
	closing byte
	at      int
}

// refuse stops the reading with an error.
func (s *scanner) refuse(offset int, format string, args ...any) {
	if s.err == nil {
		line, column := strictjson.LineColumn(s.in, offset)
		s.err = &strictjson.SyntaxError{Offset: offset, Line: line, Column: column, Msg: fmt.Sprintf(format, args...)}
	}
	s.stuck = true
}

// note records a repair, once for each kind.
func (s *scanner) note(offset int, done, advice string) {
	if !s.noted(done) {
		s.repairs = append(s.repairs, Repair{Offset: offset, Done: done, Advice: advice})
	}
}

func (s *scanner) noted(done string) bool {
	return slices.ContainsFunc(s.repairs, func(r Repair) bool { return r.Done == done })
}

// copyTo copies the text up to an offset.
func (s *scanner) copyTo(end int) {
	if end <= s.done {
		return
	}
	s.marks = append(s.marks, mark{out: len(s.out), in: s.done, copied: true})
	s.out = append(s.out, s.in[s.done:end]...)
	s.done = end
}

// put writes text in place of the input between s.done and end.
func (s *scanner) put(text string, end int) {
	if text != "" {
		s.marks = append(s.marks, mark{out: len(s.out), in: min(s.done, len(s.in))})
		s.out = append(s.out, text...)
	}
	s.done = end
}

// replace copies the input before from, and writes text in place of the bytes from there to end.
func (s *scanner) replace(from, end int, text string) {
	s.copyTo(from)
	s.put(text, end)
}

func (s *scanner) peek() byte {
	if s.pos < len(s.in) {
		return s.in[s.pos]
	}
	return 0
}

func (s *scanner) has(prefix string) bool { return bytes.HasPrefix(s.in[s.pos:], []byte(prefix)) }

// space skips white space, comments, and escapes for white space.
func (s *scanner) space() {
	for s.pos < len(s.in) && !s.stuck {
		switch c := s.in[s.pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			s.pos++
		case c == '#', s.has("//"):
			s.comment(bytes.IndexByte(s.in[s.pos:], '\n'), 0)
		case s.has("/*"):
			s.comment(bytes.Index(s.in[s.pos:], []byte("*/")), 2)
		case s.has(`\n`), s.has(`\t`), s.has(`\r`):
			s.replace(s.pos, s.pos+2, " ")
			s.note(s.pos, `escapes outside of strings were read as white space`,
				`write line breaks outside of strings as they are, not as \n`)
			s.pos += 2
		case s.has("\u00a0"):
			s.replace(s.pos, s.pos+2, " ")
			s.note(s.pos, "non-breaking spaces were read as spaces", "write plain spaces between the values")
			s.pos += 2
		default:
			return
		}
	}
}

// comment omits a comment of n bytes plus more closing bytes. A line comment without an end takes the rest.
func (s *scanner) comment(n, more int) {
	end := len(s.in)
	if n >= 0 {
		end = s.pos + n + more
	} else if more > 0 {
		s.refuse(s.pos, "the comment that starts here is not closed")
		return
	}
	s.note(s.pos, doneComments, "leave out the comments")
	s.replace(s.pos, end, "")
	s.pos = end
}

// atEnd reports whether the JSON can only end here: at the end of the text, or at the end of its fence.
func (s *scanner) atEnd() bool { return s.pos >= len(s.in) || s.fenced && s.has("```") }
