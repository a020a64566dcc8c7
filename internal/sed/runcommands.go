package sed

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// commands runs the script over the pattern space, and returns how it ended.
func (r *runner) commands() (how ending, err error) {
	for i := 0; i < len(r.s.commands); i++ {
		if err := r.spend(1); err != nil {
			return 0, err
		}
		c := &r.s.commands[i]
		selected := true
		if c.from.kind != addrNone {
			if selected, err = r.selected(i); err != nil {
				return 0, err
			}
		}
		if selected == c.not {
			if c.name == '{' {
				i = c.end
			}
			continue
		}
		switch c.name {
		case 'd':
			return deleted, nil
		case 'q':
			return quit, nil
		case 'Q':
			return quitDrop, nil
		case 'c':
			if r.ranges[i].active { // the text is for the whole range, and comes at its end
				return deleted, nil
			}
			return deleted, r.put(&r.printed, c.text)
		case 'i':
			err = r.put(&r.printed, c.text)
		case 'a':
			err = r.put(&r.appended, c.text)
		case 'n', 'N':
			switch {
			case r.isLast: // as in GNU sed, the pattern space is kept and the rest of the script is not run
				return ended, nil
			case c.name == 'n':
				err = r.replaceByNext()
			default:
				err = r.joinNext()
			}
		case 'p':
			err = r.print()
		case 'y':
			err = r.transliterate(c)
		case 's':
			err = r.substitute(c)
		}
		switch {
		case err != nil:
			return 0, err
		case len(r.space) > r.s.maxLine:
			return 0, &LineError{r.stats.Lines, r.s.maxLine}
		}
	}
	return ended, nil
}

func (r *runner) print() error {
	if err := r.put(&r.printed, r.space, '\n'); err != nil {
		return err
	}
	r.open = r.bare
	return nil
}

// put adds a text to printed or appended.
func (r *runner) put(to *[]byte, text []byte, end ...byte) error {
	size := len(r.printed) + len(r.appended) + len(text) + len(end)
	switch {
	case r.bounds.Text > 0 && int64(size) > r.bounds.Text:
		return ErrText
	case size/16 > r.s.maxLine:
		return &LineError{r.stats.Lines, r.s.maxLine}
	}
	if err := r.reserve(size); err != nil {
		return err
	}
	*to = append(append(*to, text...), end...)
	r.open = false
	return r.spend(len(text))
}

// become sets the pattern space.
func (r *runner) become(space []byte) {
	r.space = space
	r.owned, r.spare = space, r.owned
	r.changes++
}

func (r *runner) transliterate(c *command) error {
	out := slices.Grow(r.spare[:0], len(r.space))
	for b := r.space; len(b) > 0; {
		_, n := utf8.DecodeRune(b)
		if to, ok := c.letters[string(b[:n])]; ok {
			out = append(out, to...)
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	if bytes.Equal(out, r.space) {
		r.spare = out
		return r.spend(len(out))
	}
	r.become(out)
	r.splices = r.splices[:0]
	r.changes++ // more than one place, at once
	return r.spend(len(out))
}
