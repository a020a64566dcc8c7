package sed

import (
	"bytes"
	"cmp"
	"github.com/millrace-go/millrace/internal/match"
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
	w := substituting{runner: r, substitution: s, space: r.space}
	if re.re2 != nil {
		err = w.inRE2(re)
	} else {
		err = w.inPosix(re)
	}
	switch {
	case err != nil:
		return err
	case w.made == 0:
		return nil
	}
	out := append(w.out, w.space[w.copied:]...)
	r.stats.Replacements += w.made
	r.become(out)
	if s.print {
		return r.print()
	}
	return nil
}

// substituting is one s at work on the pattern space.
type substituting struct {
	*runner
	*substitution
	space  []byte
	out    []byte // what the space becomes, as far as it was looked at
	copied int    // how much of it that is
	count  int    // matches
	made   int    // substitutions
}

// inPosix makes the substitutions for a pattern in POSIX syntax.
func (w *substituting) inPosix(re *pattern) error {
	m := w.machineOf(re.posix)
	size := 2
	// The C library looks for groups always, and does not always find a match that has some.
	if w.groups > 0 || re.groups > 0 && (re.posix.n.fragile || bytes.IndexByte(w.space, '\n') >= 0) {
		size += 2 * re.groups
	}
	w.caps = slices.Grow(w.caps[:0], size)[:size]
	for start, last := 0, 0; start <= len(w.space); {
		found := m.groups(w.space, start, w.caps)
		if w.clock.err != nil || !found {
			return w.clock.err
		}
		from, to := w.caps[0], w.caps[1]
		if from == to && w.count > 0 && from <= last {
			// An empty match right after another match is none: baaac is xbxcx after s/a*/x/g.
			start = from + 1
		} else {
			if more, err := w.take(w.caps); !more || err != nil {
				return err
			}
			if start = to; from == to && w.count < w.number {
				start++
			}
		}
		last = to
	}
	return nil
}

// inRE2 makes those for a pattern of package regexp.
func (w *substituting) inRE2(re *pattern) error {
	var err error
	found := re.re2.Find(w.clock.ctx, match.Bytes(w.space), match.How{Groups: true}, func(_ *match.Window, loc []int) bool {
		var more bool
		more, err = w.take(loc)
		return more && err == nil
	})
	return cmp.Or(err, found)
}

// take makes the substitution for the next match, if it is one of those to be made. It reports whether there may be more.
func (w *substituting) take(caps []int) (more bool, err error) {
	if w.count++; w.count < w.number {
		return true, nil
	}
	r, from, to := w.runner, caps[0], caps[1]
	if most := r.bounds.Replacements; most > 0 && r.stats.Replacements+w.made >= most {
		return false, ErrReplacements
	}
	if w.made == 0 {
		w.out = r.spare[:0]
	}
	w.out = append(w.out, w.space[w.copied:from]...)
	begin := len(w.out)
	w.out = w.expand(w.out, w.space, caps, r.s.maxLine)
	if len(w.out) > r.s.maxLine {
		return false, &LineError{r.stats.Lines, r.s.maxLine}
	}
	w.made++
	w.copied = to
	if r.changes == 0 {
		k := len(r.texts)
		r.texts = append(r.texts, w.out[begin:]...)
		r.splices = append(r.splices, splice{from, to, k, len(r.texts)})
	}
	return w.global, nil
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
			return re.re2.Contains(r.clock.ctx, r.space)
		}
		found := r.machineOf(re.posix).match(r.space)
		return found, r.clock.err
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
