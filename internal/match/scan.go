package match

import (
	"context"
	"regexp"
	"unicode/utf8"
)

// Contains reports whether the pattern matches anywhere in data. The error is that of the context.
func (p *Pattern) Contains(ctx context.Context, data []byte) (found bool, err error) {
	if p.sole != nil && !p.needsView(data) {
		return p.sole.next(data, 0) >= 0, nil
	}
	t := p.tools(ctx, data)
	known, ok := t.contains()
	if p.putBack(t); ok {
		return known, nil
	}
	err = p.Find(ctx, Bytes(data), How{}, func(*Window, []int) bool { found = true; return false })
	return found, err
}

// window finds the matches in the window.
func (s *search) window() error {
	if s.how.See != nil {
		s.how.See(s.at.Data)
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return s.err
	}
	s.shown = false
	s.end = 0
	if s.yield != nil || s.cuts || !s.count() {
		s.find()
	}
	return s.err
}

// count counts the matches in the window without going to each of them, if that can be.
func (s *search) count() (ok bool) {
	data := s.at.Data
	switch {
	case s.sole != nil && !s.needsView(data):
		for pos := s.sole.next(data, 0); pos >= 0; pos = s.sole.next(data, pos+s.sole.size()) {
			if s.n++; s.n%1024 == 0 && !s.alive() {
				break
			}
		}
		return true
	case s.machine != nil && !s.machine.empty:
		t := s.tools(s.ctx, data)
		defer s.putBack(t)
		n, ok, err := t.count(s.ctx)
		if ok {
			s.n, s.err = s.n+n, err
		}
		return ok
	}
	return false
}

// find goes to the matches in the window one by one.
func (s *search) find() {
	data := s.at.Data
	if s.sole != nil && !s.needsView(data) {
		s.literal(data)
		return
	}
	t := s.tools(s.ctx, data)
	defer s.putBack(t)
	if found, ok := t.contains(); ok && !found {
		return
	}
	s.view = nil
	if s.needsView(data) {
		s.view = newView(data)
		data = s.view.text
	}
	t.begin(s.ctx, data, s.view != nil)
	switch {
	case s.sole != nil:
		s.literal(data)
	case s.byLine:
		s.byLineOf(t)
	default:
		s.whole(data, 0, t)
	}
}

// hit is called with each match. loc is where it is in what the window shows.
func (s *search) hit(loc []int) bool {
	if s.view != nil {
		loc = s.view.original(loc)
	}
	if loc[0] == len(s.at.Data) && !s.last {
		return true // the empty match belongs to what comes next
	}
	s.n++
	if s.end = loc[1]; s.yield == nil {
		return true
	}
	if s.out == nil {
		s.out = new(Window)
	}
	if !s.shown {
		*s.out, s.shown = s.at, true
	}
	s.stopped = !s.yield(s.out, loc)
	return !s.stopped
}

func (s *search) alive() bool {
	s.err = s.ctx.Err()
	return s.err == nil
}

func (s *search) literal(data []byte) {
	var loc []int
	for pos := 0; s.alive(); {
		i := s.sole.next(data, pos)
		if i < 0 {
			return
		}
		if loc == nil {
			loc = make([]int, 2)
		}
		pos = i + s.sole.size()
		if loc[0], loc[1] = i, pos; !s.hit(loc) {
			return
		}
	}
}

// byLineOf runs the regular expression on those lines only that have a match, as far as that is known.
func (s *search) byLineOf(t *tools) {
	for {
		line, start := t.line()
		if line == nil || !s.whole(line, start, nil) {
			return
		}
	}
}

// whole finds the matches in data, which begins at offset base of the text, the way package regexp does. t, if not
// nil, can tell where there are no more.
func (s *search) whole(data []byte, base int, t *tools) bool {
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
		if !s.hit(loc) {
			return false
		}
	}
	return true
}

// from returns the first match at or after pos. Package regexp has no such function: in data[pos:] the expression
// would not see what is before pos. Where it looks at that, one character more is given to it, and matched by the dot
// in front of the shifted expression.
func (s *search) from(data []byte, pos int) []int {
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

// first returns the first match in data. Nothing ends a call of package regexp but the end of what it reads. So what
// may take long is read character by character, which is slower, and ends with the context.
func (s *search) first(re *regexp.Regexp, data []byte) []int {
	const most = 1 << 26 // instructions times bytes, which takes about a second
	work := s.size
	if s.how.Groups {
		work *= copies(s.tree.MaxCap())
	}
	switch {
	case int64(len(data))*int64(work) > most:
		reader := newRunes(s.ctx, data, work)
		var loc []int
		if s.how.Groups {
			loc = re.FindReaderSubmatchIndex(reader)
		} else {
			loc = re.FindReaderIndex(reader)
		}
		s.err = reader.err
		return loc
	case s.how.Groups:
		return re.FindSubmatchIndex(data)
	default:
		return re.FindIndex(data)
	}
}

// startsAfresh reports whether the expression, behind that byte, sees what it would see at the beginning of a text.
func (s *search) startsAfresh(before byte) bool {
	word := before == '_' || '0' <= before && before <= '9' || 'a' <= before && before <= 'z' || 'A' <= before && before <= 'Z'
	return !s.traits.beginText && (!s.traits.beginLine || before == '\n') && (!s.traits.word || !word)
}
