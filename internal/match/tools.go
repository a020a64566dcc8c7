package match

import (
	"bytes"
	"context"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// engine finds the matches of a regular expression, for a [Pattern] and for a [Longest]. It is immutable and safe for
// concurrent use.
type engine struct {
	alphabet
	prog    *syntax.Prog
	sole    *finder   // finds the matches, if all are the same text
	need    []*finder // texts, at least one in each match; empty if not known
	machine *machine  // nil without an automaton
	byLine  bool      // no match goes beyond its line, and there is a way to find the lines
	anyEnd  bool      // "\r\n" is one line end
	spare   sync.Pool // of *tools
}

// tools are the means to find the matches in one text. They are not safe for concurrent use. They are kept for the next
// text, because the computed states of a dfa are valuable.
type tools struct {
	*engine
	ctx  context.Context
	data []byte
	at   Places
	dfa  *dfa // nil if not available, or too slow for this text
	next *dfa // the dfa for the next text
	walk walker
	loc  []int

	pos   int // the text before pos is done
	hits  int // number of lines found by the needed texts
	dense bool
}

// tools returns tools for a text. Once the context ends, the dfa gives up.
func (e *engine) tools(ctx context.Context, data []byte) *tools {
	t, _ := e.spare.Get().(*tools)
	if t == nil {
		t = &tools{engine: e, walk: walker{engine: e}}
		if e.machine != nil {
			t.next = newDFA(e.machine)
		}
	}
	t.begin(ctx, data, false)
	return t
}

// begin starts a text, or a view of a text.
func (t *tools) begin(ctx context.Context, data []byte, view bool) {
	t.ctx, t.data, t.dfa, t.pos, t.hits, t.dense = ctx, data, t.next, 0, 0, len(t.need) == 0
	t.at.reset(data, t.need)
	if t.dfa != nil {
		// A "\r\n" in a view was "\r\r\n".
		t.dfa.ctx = ctx
		t.dfa.skipCR = t.machine.skipCR && !view
		t.dfa.ahead.reset(data, t.machine.prefix)
	}
}

func (e *engine) putBack(t *tools) {
	t.ctx, t.data, t.at.data = nil, nil, nil
	if t.next != nil {
		t.next.data, t.next.ahead.data, t.next.ctx = nil, nil, nil
	}
	e.spare.Put(t)
}

// each calls yield for each match in data. first finds the first match at or after an offset, nil if not found. An
// empty match directly after another match does not count. If yield returns false, each ends without an error.
func each(ctx context.Context, data []byte, first func(pos int) ([]int, error), yield func(loc []int) bool) error {
	for pos, last := 0, -1; pos <= len(data); {
		if err := ctx.Err(); err != nil {
			return err
		}
		loc, err := first(pos)
		if loc == nil || err != nil {
			return err
		}
		start, end := loc[0], loc[1]
		if pos = end; start == end {
			_, width := utf8.DecodeRune(data[end:])
			pos += max(width, 1)
		}
		if (start != end || end != last) && !yield(loc) {
			return nil
		}
		last = end
	}
	return nil
}

// texts is each for matches that are all the same text.
func (e *engine) texts(ctx context.Context, data []byte, yield func(loc []int) bool) error {
	var t *tools // only for its memory
	defer func() {
		if t != nil {
			e.putBack(t)
		}
	}()
	return each(ctx, data, func(pos int) ([]int, error) {
		i := e.sole.next(data, pos)
		if i < 0 {
			return nil, nil
		}
		if t == nil {
			t = e.tools(ctx, data)
		}
		t.loc = append(t.loc[:0], i, i+e.sole.size())
		return t.loc, nil
	}, yield)
}

// inText is inPart for the whole text. pos must not decrease from call to call.
func (t *tools) inText(pos, places int) ([]int, error) {
	if len(t.need) > 0 && t.at.Next(pos) < 0 {
		return nil, nil
	}
	return t.inPart(t.data, pos, places)
}

// inPart returns the first match at or after pos in data, which is the text or a line of it: the begin and end of the
// match and its groups, as many places as requested, valid until the next call. It is nil if not found. The error
// is from the context.
func (t *tools) inPart(data []byte, pos, places int) ([]int, error) {
	t.loc = slices.Grow(t.loc[:0], places)[:places]
	loc := t.loc
	if t.dfa != nil {
		end, ok := t.dfa.find(data, pos)
		switch {
		case !ok:
			t.dfa = nil
		case end < 0:
			return nil, nil
		default:
			pos = t.dfa.beginning(data, pos, end)
		}
	}
	// Each place is tried, which may take long if many beginnings do not lead to a match. Walking all ways at once does
	// not take long.
	const most = 1 << 14
	for at, left := pos, most; t.dfa != nil && left > 0 && at <= len(data); {
		end, seen, ok := t.dfa.matchAt(data, at)
		switch {
		case !ok:
			t.dfa = nil
		case end >= 0 && len(loc) == 2:
			loc[0], loc[1] = at, end
			return loc, nil
		case end >= 0:
			return t.walk.run(t.ctx, data, at, end, loc)
		}
		left -= 1 + seen - at
		_, width := utf8.DecodeRune(data[at:])
		at += max(width, 1)
	}
	return t.walk.run(t.ctx, data, pos, -1, loc)
}

// sparse is the least average number of bytes for each place of a needed text. Below that, a dfa is faster without
// these texts.
const sparse = 200

// candidate returns the next line with a needed text, without its line end, and its offset, nil if not found. It
// sets dense, and returns nil, if another way is faster from pos.
func (t *tools) candidate() (line []byte, start int) {
	if t.dense {
		return nil, 0
	}
	hit := -1
	if t.pos <= len(t.data) {
		hit = t.at.Next(t.pos)
	}
	if hit < 0 {
		t.pos = len(t.data) + 1
		return nil, 0
	}
	if t.hits++; t.dfa != nil && t.hits > 16 && hit < sparse*t.hits {
		t.dense = true
		return nil, 0
	}
	return t.around(hit)
}

// around returns the line of an offset at or after pos, and its own offset, and moves to the next line.
func (t *tools) around(offset int) (line []byte, start int) {
	start = t.pos + bytes.LastIndexByte(t.data[t.pos:offset], '\n') + 1 // pos itself begins a line
	end := len(t.data)
	if i := bytes.IndexByte(t.data[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	t.pos = end + 1
	line = t.data[start:end:end]
	if t.anyEnd && end < len(t.data) {
		line = bytes.TrimSuffix(line, crlf[:1])
	}
	if line == nil {
		line = []byte{}
	}
	return line, start
}

// line returns the next line that may have a match, and its offset, nil if not found.
func (t *tools) line() (line []byte, start int) {
	if line, start = t.candidate(); line != nil || t.pos > len(t.data) {
		return line, start
	}
	at := t.pos
	if t.dfa != nil {
		end, ok := t.dfa.find(t.data, t.pos)
		switch {
		case !ok:
			t.dfa = nil
		case end < 0:
			return nil, 0
		default:
			at = end
		}
	}
	return t.around(at)
}

// count counts the matches, up to most, if ok is true; otherwise nothing is known. A count above one is only right if
// no match is empty.
func (t *tools) count(most int) (n int, ok bool) {
	if len(t.need) > 0 && !t.byLine && t.at.Next(0) < 0 {
		return 0, true
	}
	if t.dfa == nil {
		return 0, false
	}
	for t.byLine && n < most {
		line, _ := t.candidate()
		if line == nil {
			break
		}
		more, ok := t.dfa.count(line, true, most)
		if n += more; !ok {
			return 0, false
		}
	}
	if n >= most || t.pos > len(t.data) {
		return n, true
	}
	more, ok := t.dfa.count(t.data[t.pos:], t.byLine, most)
	return n + more, ok
}
