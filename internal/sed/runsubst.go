package sed

import (
	"bytes"
	"slices"
)

// substitute runs an s.
func (r *runner) substitute(c *command) error {
	s := c.subst
	re, err := r.pattern(s.re, c.place)
	if err != nil {
		return err
	}
	if s.groups > re.groups {
		// GNU sed reads past its registers if the pattern was that of an s, and refuses it if it was an address.
		e := c.place.at(r.s.scripts, "invalid reference \\"+itoa(s.groups)+" on `s' command's RHS", "the empty pattern stands for one with fewer groups")
		e.Unsupported = true
		return e
	}
	most := -1
	if !s.global {
		most = max(s.number, 1)
	}
	r.look(re, s.groups > 0, most)
	b, out := r.space, []byte(nil)
	made := 0
	copied, start, last, count := 0, 0, 0, 0
	for start <= len(b) && r.find(start) {
		from, to := r.caps[0], r.caps[1]
		start = from
		switch {
		// An empty match right after another match is none: baaac is xbxcx after s/a*/x/g.
		case from == to && count > 0 && from <= last:
			start++
		default:
			count++
			start = to
			if count < s.number {
				if from == to {
					start++
				}
				break
			}
			if made == 0 {
				out = r.spare[:0]
			}
			out = append(out, b[copied:from]...)
			begin := len(out)
			out = s.expand(out, b, r.caps)
			if len(out) > r.s.maxLine {
				return &LineError{r.stats.Lines, r.s.maxLine}
			}
			made++
			copied = to
			if r.changes == 0 {
				k := len(r.texts)
				r.texts = append(r.texts, out[begin:]...)
				r.splices = append(r.splices, splice{from, to, k, len(r.texts)})
			}
		}
		last = to
		if made > 0 && !s.global {
			break
		}
	}
	if made == 0 {
		return nil
	}
	out = append(out, b[copied:]...)
	r.stats.Replacements += made
	r.become(out)
	if s.print {
		r.print()
	}
	return nil
}

// pattern returns the pattern to use for re, which may be the empty one.
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

// look prepares find for the matches of a pattern in the pattern space, at most as many as given.
func (r *runner) look(re *pattern, groups bool, most int) {
	r.all, r.machine = nil, nil
	if re.posix == nil {
		r.all = re.re2.FindAllSubmatchIndex(r.space, most)
		return
	}
	r.machine = r.machineOf(re.posix)
	size := 2
	// The C library looks for groups always, and does not always find a match that has some.
	if groups || re.groups > 0 && (re.posix.n.fragile || bytes.IndexByte(r.space, '\n') >= 0) {
		size += 2 * re.groups
	}
	r.caps = slices.Grow(r.caps[:0], size)[:size]
}

// find finds the next match, at start or later, and leaves it in r.caps.
func (r *runner) find(start int) bool {
	if r.machine != nil {
		return r.machine.groups(r.space, start, r.caps)
	}
	for len(r.all) > 0 && r.all[0][0] < start {
		r.all = r.all[1:]
	}
	if len(r.all) == 0 {
		return false
	}
	r.caps, r.all = append(r.caps[:0], r.all[0]...), r.all[1:]
	return true
}

// ranged is the state of an address with two ends.
type ranged struct {
	active, closed bool
	end            int // of +N and ~N
}

// selected reports whether the line is one of those that a command is for.
func (r *runner) selected(i int) (bool, error) {
	c, state, line := &r.s.commands[i], &r.ranges[i], r.stats.Lines
	if !state.active {
		if c.to.kind == addrNone {
			return r.matches(&c.from, c, state)
		}
		// A line number is where a range begins once, even if the line itself was never looked at.
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
			return true, nil // looked for from the next line on
		case addrLine:
			if line >= c.to.n {
				state.active, state.closed = false, true
			}
			if line <= c.to.n {
				return true, nil
			}
			return r.matches(&c.from, c, state)
		case addrPlus:
			state.end = line + c.to.step
			return true, nil
		case addrTo:
			// A line that is a multiple already is where the range begins, not where it ends.
			state.end = line + c.to.step - line%c.to.step
			return true, nil
		}
	}
	if c.to.kind == addrLine {
		if line >= c.to.n {
			state.active, state.closed = false, true
		}
		return line <= c.to.n, nil
	}
	ok, err := r.matches(&c.to, c, state)
	if ok {
		state.active, state.closed = false, true
	}
	return true, err
}

// matches reports whether the line is what one address says.
func (r *runner) matches(a *address, c *command, state *ranged) (bool, error) {
	line := r.stats.Lines
	switch a.kind {
	case addrRegexp:
		re, err := r.pattern(a.re, c.place)
		if err != nil {
			return false, err
		}
		if re.posix == nil {
			return re.re2.Match(r.space), nil
		}
		return r.machineOf(re.posix).match(r.space), nil
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
