package match

import (
	"context"
	"math"
)

// Contains reports whether the pattern matches anywhere in data. The error is from the context.
func (p *Pattern) Contains(ctx context.Context, data []byte) (found bool, err error) {
	if p.shape != nil {
		err = p.Find(ctx, Bytes(data), How{}, func(*Window, []int) bool { found = true; return false })
		return found, err
	}
	if p.sole != nil && !p.needsView(data) {
		return p.sole.next(data, 0) >= 0, nil
	}
	t := p.tools(ctx, data)
	n, ok := t.count(1)
	if p.putBack(t); ok && (n == 0 || !p.traits.empty) {
		return n > 0, nil
	}
	err = p.Find(ctx, Bytes(data), How{}, func(*Window, []int) bool { found = true; return false })
	return found, err
}

func (s *search) window() error {
	if s.how.See != nil {
		s.how.See(s.at.Data)
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.shown, s.end, s.view = false, 0, nil
	data := s.at.Data
	if s.shape != nil {
		return s.shapes(data)
	}
	viewed := s.needsView(data)
	switch {
	case s.sole == nil || viewed:
	case s.yield != nil || s.cuts:
		return s.texts(s.ctx, data, s.hit)
	default:
		for pos := s.sole.next(data, 0); pos >= 0; pos = s.sole.next(data, pos+s.sole.size()) {
			if s.n++; s.n%1024 == 0 && s.ctx.Err() != nil {
				break
			}
		}
		return s.ctx.Err()
	}
	t := s.tools(s.ctx, data)
	defer s.putBack(t)
	most := 1
	if s.yield == nil && !s.cuts && !s.traits.empty {
		most = math.MaxInt
	}
	if n, ok := t.count(most); ok && (n == 0 || most > 1) {
		s.n += n
		return nil
	}
	if viewed {
		s.view = newView(data)
		data = s.view.text
	}
	t.begin(s.ctx, data, viewed)
	if s.sole != nil {
		return s.texts(s.ctx, data, s.hit)
	}
	places := 2
	if s.how.Groups {
		places += 2 * s.tree.MaxCap()
	}
	if !s.byLine {
		return each(s.ctx, data, func(pos int) ([]int, error) { return t.inText(pos, places) }, s.hit)
	}
	for !s.stopped {
		line, start := t.line()
		if line == nil {
			break
		}
		first := func(pos int) ([]int, error) { return t.inPart(line, pos, places) }
		err := each(s.ctx, line, first, func(loc []int) bool {
			for i := range loc {
				if loc[i] >= 0 {
					loc[i] += start
				}
			}
			return s.hit(loc)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hit is called for each match. loc is its place in the text that the window or its view shows.
func (s *search) hit(loc []int) bool {
	if s.view != nil {
		loc = s.view.original(loc)
	}
	if loc[0] == len(s.at.Data) && !s.last {
		return true // the empty match belongs to the next window
	}
	if s.afterLines(loc) {
		return true
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

// afterLines reports whether a match is empty and after the last line end of the text, where no line begins. A pattern
// that names the end of the text, such as \z, means that place. An empty text has one empty line.
func (s *search) afterLines(loc []int) bool {
	data := s.at.Data
	if !s.flags.Lines || loc[0] != loc[1] || loc[0] != len(data) || s.traits.looksAtText {
		return false
	}
	return len(data) == 0 && s.at.Off > 0 || len(data) > 0 && data[len(data)-1] == '\n'
}

// shapes finds the matches of a structural pattern in a window, which is the whole text.
func (s *search) shapes(data []byte) error {
	if mayMatch, _ := s.Screen(); mayMatch != nil && !mayMatch(data) {
		return nil
	}
	return s.shape.Find(s.ctx, data, s.how.Name, s.hit)
}
