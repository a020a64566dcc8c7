package sed

import (
	"cmp"
	"slices"
	"strconv"
)

// substituting is the work of an s on the pattern space.
type substituting struct {
	runner *runner
	yield  func(loc []int) bool // take
	s      *substitution
	out    []byte // the new pattern space so far
	copied int    // how much of the old pattern space was copied
	count  int    // matches
	made   int    // substitutions
	err    error
}

func (r *runner) substitute(c *command) error {
	s := c.subst
	re, err := r.pattern(s.re, c.place)
	if err != nil {
		return err
	}
	if s.groups > re.groups {
		// GNU sed reads past its registers if the pattern was the pattern of an s, and refuses it if it was an address.
		e := c.place.at(r.s.scripts, "invalid reference \\"+strconv.Itoa(s.groups)+" on `s' command's RHS",
			"the empty pattern stands for one with fewer groups")
		e.Unsupported = true
		return e
	}
	w := &r.substituting
	w.s, w.copied, w.count, w.made, w.err = s, 0, 0, 0, nil
	err = re.each(r.ctx, r.space, s.groups, w.yield)
	switch {
	case w.err != nil || err != nil:
		return cmp.Or(w.err, err)
	case w.made == 0:
		return nil
	}
	r.stats.Replacements += w.made
	r.become(append(w.out, r.space[w.copied:]...))
	if s.print {
		return r.print()
	}
	return nil
}

// take makes the substitution for the next match, if the match is to be replaced. It reports whether there may be more.
func (w *substituting) take(loc []int) (more bool) {
	s, r, from, to := w.s, w.runner, loc[0], loc[1]
	if w.count++; w.count < s.number {
		return true
	}
	if most := r.bounds.Replacements; most > 0 && r.stats.Replacements+w.made >= most {
		w.err = ErrReplacements
		return false
	}
	if w.made == 0 {
		w.out = r.spare[:0]
	}
	w.out = append(w.out, r.space[w.copied:from]...)
	begin, most := len(w.out), r.s.maxLine
	size, exact := s.size(loc, most)
	if exact && size > most-begin { // before memory for it is allocated
		w.err = &LineError{r.stats.Lines, most}
		return false
	}
	if w.err = r.reserve(begin + size); w.err != nil {
		return false
	}
	w.out = s.expand(slices.Grow(w.out, min(size, most)), r.space, loc, most)
	if len(w.out) > most {
		w.err = &LineError{r.stats.Lines, most}
		return false
	}
	w.made++
	w.copied = to
	if r.changes == 0 {
		r.splices = append(r.splices, splice{from, to, begin, len(w.out)})
	}
	return s.global
}

// pattern returns the pattern to use for re, which may be the empty pattern.
func (r *runner) pattern(re *pattern, p place) (*pattern, error) {
	if re == nil {
		if r.last == nil {
			return nil, p.at(r.s.scripts, "no previous regular expression", "an empty pattern is the last one used")
		}
		return r.last, nil
	}
	r.last = re
	return re, nil
}

// ranged is the state of an address with two parts.
type ranged struct {
	active, closed bool
	end            int // of +N and ~N
}

// selected reports whether a command applies to the line.
func (r *runner) selected(i int) (bool, error) {
	c, state, line := &r.s.commands[i], &r.ranges[i], r.stats.Lines
	if c.to.kind == addrNone {
		return r.matches(&c.from, c, state)
	}
	begins := !state.active
	if begins {
		// A line number begins a range only once, even if the line itself was never checked.
		if c.from.kind == addrLine {
			if state.closed || line < c.from.n {
				return false, nil
			}
		} else if ok, err := r.matches(&c.from, c, state); !ok {
			return false, err
		}
		state.active, state.closed = true, false
		switch c.to.kind {
		case addrRegexp:
			return true, nil // searched from the next line on
		case addrPlus:
			state.end = line + c.to.step
			return true, nil
		case addrTo:
			// A line that is already a multiple begins the range, it does not end it.
			state.end = line + c.to.step - line%c.to.step
			return true, nil
		}
	}
	ended, err := line >= c.to.n, error(nil)
	if c.to.kind != addrLine {
		ended, err = r.matches(&c.to, c, state)
	}
	if ended {
		state.active, state.closed = false, true
	}
	switch {
	case c.to.kind != addrLine || line <= c.to.n:
		return true, err
	case begins:
		return r.matches(&c.from, c, state)
	}
	return false, nil
}

// matches reports whether one address selects the line.
func (r *runner) matches(a *address, c *command, state *ranged) (bool, error) {
	line := r.stats.Lines
	switch a.kind {
	case addrRegexp:
		re, err := r.pattern(a.re, c.place)
		if err != nil {
			return false, err
		}
		return re.contains(r.ctx, r.space)
	case addrStep:
		return line >= a.n && (line-a.n)%a.step == 0, nil
	case addrPlus, addrTo:
		return state.end <= line, nil
	case addrLast:
		return r.isLast, nil
	case addrLine:
		return a.n == line, nil
	}
	return true, nil
}
