package match

import (
	"bytes"
	"context"
)

// tools are what a pattern looks for its matches in one text with, before package regexp does, or in its place. They
// are for one goroutine, and kept for the next text, because the states that a dfa has worked out are worth more than
// the rest.
type tools struct {
	p     *Pattern
	data  []byte
	at    places
	dfa   *dfa // nil if there is none, or it is no good for this text
	spare *dfa // the dfa for the next text

	pos   int // what is before it has been looked at
	hits  int // how many lines the needed texts have led to
	dense bool
}

// tools returns tools for a text. Once the context ends, the dfa gives up.
func (p *Pattern) tools(ctx context.Context, data []byte) *tools {
	t, _ := p.spare.Get().(*tools)
	if t == nil {
		t = &tools{p: p}
		if p.machine != nil {
			t.spare = newDFA(p.machine)
		}
	}
	t.begin(ctx, data, false)
	return t
}

// begin begins a text, or what a view of one shows.
func (t *tools) begin(ctx context.Context, data []byte, view bool) {
	t.data, t.dfa, t.pos, t.hits, t.dense = data, t.spare, 0, 0, len(t.p.need) == 0
	t.at.reset(data, t.p.need)
	if t.dfa != nil {
		// What looks like "\r\n" in a view was "\r\r\n".
		t.dfa.ctx = ctx
		t.dfa.skipCR = t.p.machine.skipCR && !view
		t.dfa.ahead.reset(data, t.p.machine.prefix)
	}
}

func (p *Pattern) putBack(t *tools) {
	t.data, t.at.data = nil, nil
	if t.spare != nil {
		t.spare.data, t.spare.ahead.data, t.spare.ctx = nil, nil, nil
	}
	p.spare.Put(t)
}

// sparse is how many bytes there must be to each place that the needed texts lead to, on average. Below that, a dfa
// is faster without them.
const sparse = 200

// candidate returns the next line with one of the needed texts, without its line end, and where it begins, nil if
// there is none. It sets dense, and returns nil, if that is not the best way to go on from pos.
func (t *tools) candidate() (line []byte, start int) {
	hit := -1
	if t.pos <= len(t.data) {
		hit = t.at.next(t.pos)
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

// around returns the line that an offset at or behind pos is in, and where it begins, and goes on to the next line.
func (t *tools) around(offset int) (line []byte, start int) {
	start = t.pos + bytes.LastIndexByte(t.data[t.pos:offset], '\n') + 1 // pos itself begins a line
	end := len(t.data)
	if i := bytes.IndexByte(t.data[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	t.pos = end + 1
	line = t.data[start:end:end]
	if t.p.anyEnd && end < len(t.data) {
		line = bytes.TrimSuffix(line, crlf[:1])
	}
	if line == nil {
		line = []byte{}
	}
	return line, start
}

// line returns the next line that may have a match, and where it begins, nil if there is none.
func (t *tools) line() (line []byte, start int) {
	for !t.dense {
		line, start := t.candidate()
		if line == nil && !t.dense {
			return nil, 0
		}
		if line == nil {
			break
		}
		if t.dfa != nil {
			at, ok := t.dfa.find(line, 0)
			if ok && at < 0 {
				continue
			}
			if !ok {
				t.dfa = nil
			}
		}
		return line, start
	}
	if t.pos > len(t.data) {
		return nil, 0
	}
	if t.dfa != nil {
		at, ok := t.dfa.find(t.data, t.pos)
		if ok && at < 0 {
			return nil, 0
		}
		if ok {
			return t.around(at)
		}
		t.dfa = nil
	}
	return t.around(t.pos)
}

// next returns an offset at or after pos such that the next match from pos on does not begin before it, -1 if there
// is none. From one call to the next, pos must not fall.
func (t *tools) next(pos int) int {
	if len(t.p.need) > 0 && t.at.next(pos) < 0 {
		return -1
	}
	if t.dfa == nil {
		return pos
	}
	at, ok := t.dfa.find(t.data, pos)
	switch {
	case !ok:
		t.dfa = nil
		return pos
	case at < 0:
		return -1
	}
	return t.dfa.beginning(t.data, pos, at)
}

// contains reports whether there is a match, if it is ok; otherwise nothing is known.
func (t *tools) contains() (found, ok bool) {
	if len(t.p.need) > 0 && !t.p.byLine && t.at.next(0) < 0 {
		return false, true
	}
	if t.dfa == nil {
		return false, false
	}
	for t.p.byLine && !t.dense {
		line, _ := t.candidate()
		if line == nil && !t.dense {
			return false, true
		}
		if line == nil {
			break
		}
		if at, ok := t.dfa.find(line, 0); at >= 0 || !ok {
			return ok, ok
		}
	}
	return t.dfa.contains(t.data[t.rest():])
}

// count counts the matches, none of which is empty, if it is ok.
func (t *tools) count(ctx context.Context) (n int, ok bool, err error) {
	if len(t.p.need) > 0 && !t.p.byLine && t.at.next(0) < 0 {
		return 0, true, nil
	}
	for t.p.byLine && !t.dense {
		line, _ := t.candidate()
		if line == nil && !t.dense {
			return n, true, nil
		}
		if line == nil {
			break
		}
		more, ok, err := t.dfa.count(ctx, line, true)
		if n += more; !ok || err != nil {
			return n, ok, err
		}
	}
	more, ok, err := t.dfa.count(ctx, t.data[t.rest():], t.p.byLine)
	return n + more, ok, err
}

// rest returns where what was not looked at begins: at the text itself or, if the text is searched by line, at a line.
func (t *tools) rest() int { return min(t.pos, len(t.data)) }
