package match

import (
	"context"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// LimitError says that there is more than was allowed.
type LimitError struct {
	What  string // "matches" or "bytes"
	Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("too many %s (more than %d)", e.What, e.Limit)
}

// Contains reports whether the pattern matches anywhere in data. The error is that of the context.
func (p *Pattern) Contains(ctx context.Context, data []byte) (found bool, err error) {
	if p.sole != nil && !p.needsView(data) {
		return p.sole.next(data, 0) >= 0, nil
	}
	t := p.tools(ctx, data, false)
	defer p.putBack(t)
	if found, ok := t.contains(); ok {
		return found, nil
	}
	err = p.scan(ctx, data, false, func([]int) bool { found = true; return false })
	return found, err
}

// Count returns how often the pattern matches, without overlaps, from left to right. It looks at the context now and then
// and returns its error.
func (p *Pattern) Count(ctx context.Context, data []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if p.sole != nil && !p.needsView(data) {
		return p.countTexts(ctx, data)
	}
	if p.machine != nil && !p.machine.empty {
		t := p.tools(ctx, data, false)
		defer p.putBack(t)
		if n, ok, err := t.count(ctx); ok {
			return n, err
		}
	}
	n := 0
	err := p.scan(ctx, data, false, func([]int) bool { n++; return true })
	return n, err
}

func (p *Pattern) countTexts(ctx context.Context, data []byte) (n int, err error) {
	for pos := p.sole.next(data, 0); pos >= 0; pos = p.sole.next(data, pos+p.sole.size()) {
		if n++; n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// All calls yield for each match, in order, as [regexp.Regexp.FindAllSubmatchIndex] finds them: loc[0] and loc[1] are
// where it begins and ends, loc[2*i] and loc[2*i+1] group i, -1 if that took no part. loc is valid until yield returns;
// when it returns false, All ends without an error. Matches are found one by one: nothing is held for those to come, and
// between two of them the context is looked at. More than limit matches are a *LimitError, after limit of them have been
// seen; a limit of 0 means that there is none.
func (p *Pattern) All(ctx context.Context, data []byte, limit int, yield func(loc []int) bool) error {
	n, over := 0, false
	err := p.scan(ctx, data, true, func(loc []int) bool {
		if n++; limit > 0 && n > limit {
			over = true
			return false
		}
		return yield(loc)
	})
	if over {
		return &LimitError{What: "matches", Limit: int64(limit)}
	}
	return err
}

// scan finds the matches. Without groups, loc has only the match itself.
func (p *Pattern) scan(ctx context.Context, data []byte, groups bool, yield func(loc []int) bool) error {
	if !p.needsView(data) {
		return p.scanText(ctx, data, false, groups, yield)
	}
	v := newView(data)
	return p.scanText(ctx, v.text, true, groups, func(loc []int) bool { return yield(v.original(loc)) })
}

func (p *Pattern) scanText(ctx context.Context, data []byte, view, groups bool, yield func(loc []int) bool) error {
	s := scan{Pattern: p, ctx: ctx, groups: groups, yield: yield}
	if p.sole != nil {
		s.literal(data)
		return s.err
	}
	t := p.tools(ctx, data, view)
	defer p.putBack(t)
	if p.byLine {
		s.lines(t)
	} else {
		s.whole(data, 0, t)
	}
	return s.err
}

// scan is one pass over one text. Its methods return false when the pass is over before its end.
type scan struct {
	*Pattern
	ctx    context.Context
	groups bool
	yield  func(loc []int) bool
	reader runes
	err    error
}

func (s *scan) alive() bool {
	s.err = s.ctx.Err()
	return s.err == nil
}

func (s *scan) literal(data []byte) {
	loc := make([]int, 2)
	for pos := 0; s.alive(); {
		i := s.sole.next(data, pos)
		if i < 0 {
			return
		}
		pos = i + s.sole.size()
		if loc[0], loc[1] = i, pos; !s.yield(loc) {
			return
		}
	}
}

// lines runs the regular expression on those lines only that have a match, as far as that is known.
func (s *scan) lines(t *tools) {
	for {
		line, start := t.line()
		if line == nil || !s.whole(line, start, nil) {
			return
		}
	}
}

// whole finds the matches in data, which begins at offset base of the text, the way package regexp does. t, if not nil, can
// tell where there are no more.
func (s *scan) whole(data []byte, base int, t *tools) bool {
	for pos, last := 0, -1; pos <= len(data); {
		if !s.alive() {
			return false
		}
		if t != nil {
			if pos = t.next(pos); pos < 0 {
				return true
			}
		}
		loc := s.from(data, pos)
		if s.err != nil {
			return false
		}
		if loc == nil {
			return true
		}
		start, end := loc[0], loc[1]
		// An empty match right behind another one does not count.
		counts := start != end || end != last
		pos, last = end, end
		if start == end {
			_, width := utf8.DecodeRune(data[end:])
			pos += max(width, 1)
		}
		if !counts {
			continue
		}
		for i := range loc {
			if loc[i] >= 0 {
				loc[i] += base
			}
		}
		if !s.yield(loc) {
			return false
		}
	}
	return true
}

// from returns the first match at or after pos. Package regexp has no such function: in data[pos:] the expression would
// not see what is before pos. Where it looks at that, one character more is given to it, and matched by the dot in front
// of the shifted expression.
func (s *scan) from(data []byte, pos int) []int {
	re, start := s.re, pos
	if s.shifted != nil && pos > 0 && !s.startsAfresh(data[pos-1]) {
		_, width := utf8.DecodeLastRune(data[:pos])
		re, start = s.shifted, pos-width
	}
	loc := s.first(re, data[start:])
	if loc == nil || s.err != nil {
		return nil
	}
	for i := range loc {
		if loc[i] >= 0 {
			loc[i] += start
		}
	}
	if start != pos {
		_, width := utf8.DecodeRune(data[loc[0]:])
		loc[0] += width
	}
	return loc
}

// first returns the first match in data. Nothing ends a call of package regexp but the end of what it reads. So what may take
// long is read character by character, which is slower, and ends with the context.
func (s *scan) first(re *regexp.Regexp, data []byte) []int {
	const most = 1 << 26 // instructions times bytes, which takes about a second
	work := s.size
	if s.groups {
		work *= copies(s.tree.MaxCap())
	}
	switch {
	case int64(len(data))*int64(work) > most:
		s.reader.begin(s.ctx, data, work)
		var loc []int
		if s.groups {
			loc = re.FindReaderSubmatchIndex(&s.reader)
		} else {
			loc = re.FindReaderIndex(&s.reader)
		}
		s.err = s.reader.err
		return loc
	case s.groups:
		return re.FindSubmatchIndex(data)
	default:
		return re.FindIndex(data)
	}
}

// startsAfresh reports whether the expression, behind that byte, sees what it would see at the beginning of a text.
func (s *scan) startsAfresh(before byte) bool {
	word := before == '_' || '0' <= before && before <= '9' || 'a' <= before && before <= 'z' || 'A' <= before && before <= 'Z'
	return !s.traits.beginText && (!s.traits.beginLine || before == '\n') && (!s.traits.word || !word)
}
