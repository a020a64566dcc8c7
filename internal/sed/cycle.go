package sed

import (
	"bytes"
	"slices"
)

// ending is the way in which a run of the script over the pattern space ended.
type ending int

const (
	ended    ending = iota // at the end of the script: the pattern space is kept
	deleted                // by d or c
	quit                   // by q: the pattern space is kept, the rest of the text is not
	quitDrop               // by Q: neither is kept, nor the texts of a
)

// run processes one line after the other, until q or the end of the text.
func (r *runner) run() error {
	for {
		if len(r.places) > 0 {
			r.skip()
		}
		if more, err := r.begin(); err != nil || !more {
			return err
		}
		how, err := r.commands()
		if err != nil {
			return err
		}
		if err := r.finish(how); err != nil {
			return err
		}
		if how == quit || how == quitDrop {
			return r.drop()
		}
	}
}

// skip skips the next lines that certainly have no text that a guard needs.
func (r *runner) skip() {
	l := &r.lines
	if r.filled != l.fills {
		r.filled = l.fills
		for i, re := range r.s.guards {
			r.places[i].Reset(re, l.buf)
		}
	}
	first := len(l.buf)
	for i := range r.places {
		if at := r.places[i].Next(l.next); at >= 0 {
			first = min(first, at)
		}
	}
	passed := l.buf[l.next:first]
	if first < len(l.buf) || !l.end {
		passed = passed[:bytes.LastIndexByte(passed, '\n')+1]
	}
	l.next += len(passed)
	r.work += len(passed)
	r.stats.Lines += bytes.Count(passed, []byte{'\n'})
	if n := len(passed); n > 0 && passed[n-1] != '\n' {
		r.stats.Lines++
	}
}

// begin makes the next line the pattern space. It reports whether there was a line.
func (r *runner) begin() (bool, error) {
	r.lines.hold()
	line, ok, err := r.read()
	if err != nil || !ok {
		return false, err
	}
	r.space, r.changes = line, 0
	r.splices, r.printed, r.appended, r.open = r.splices[:0], r.printed[:0], r.appended[:0], false
	return true, r.reserve(len(line))
}

// read reads a line. The line is returned without its newline.
func (r *runner) read() (line []byte, ok bool, err error) {
	if err := r.spend(perLine); err != nil {
		return nil, false, err
	}
	line, err = r.lines.line(r.s.maxLine)
	if err != nil || len(line) == 0 {
		return nil, false, err
	}
	r.stats.Lines++
	r.isLast = r.lines.last()
	n := len(line)
	if r.bare = line[n-1] != '\n'; !r.bare {
		n--
	}
	if n > r.s.maxLine {
		return nil, false, &LineError{r.stats.Lines, r.s.maxLine}
	}
	return line[:n:n], true, nil
}

// replaceByNext finishes the pattern space and replaces it by the next line, for n. There must be a next line.
func (r *runner) replaceByNext() error {
	if err := r.finish(ended); err != nil {
		return err
	}
	_, err := r.begin()
	return err
}

// joinNext appends the next line to the pattern space, for N. There must be a next line.
func (r *runner) joinNext() error {
	if len(r.appended) > 0 {
		r.printed, r.appended, r.open = append(r.printed, r.appended...), r.appended[:0], false
	}
	line, _, err := r.read()
	if err != nil {
		return err
	}
	text := r.kept()
	if len(text) > r.s.maxLine {
		return &LineError{r.stats.Lines, r.s.maxLine}
	}
	if err := r.reserve(max(len(text), len(r.space)+1+len(line))); err != nil {
		return err
	}
	if r.changes == 0 {
		r.space = text
	} else {
		r.space = append(append(r.space, '\n'), line...)
		r.owned = r.space
	}
	return r.spend(len(line))
}

// kept returns the lines of the pattern space as they were read, without the newline at their end.
func (r *runner) kept() []byte {
	text := r.lines.held()
	n := len(text)
	if !r.bare {
		n--
	}
	return text[:n:n]
}

// finish emits the changes to the lines of the pattern space.
func (r *runner) finish(how ending) error {
	defer r.release()
	text, base := r.lines.held(), r.lines.start()
	if how == quitDrop {
		r.appended = r.appended[:0]
	}
	if how == deleted || how == quitDrop || r.s.quiet {
		out := append(r.printed, r.appended...)
		if r.printed = out; r.open && len(r.appended) == 0 && how != quit {
			out = out[:len(out)-1]
		}
		return r.replace(text, out, base)
	}
	if len(r.printed) > 0 {
		if err := r.edit(base, base, r.printed); err != nil {
			return err
		}
	}
	if err := r.changed(r.kept(), base); err != nil {
		return err
	}
	if r.bare && (len(r.appended) > 0 || how == quit) { // as in GNU sed, q ends the last line too
		r.appended = slices.Insert(r.appended, 0, '\n')
	}
	if len(r.appended) == 0 {
		return nil
	}
	end := base + int64(len(text))
	return r.edit(end, end, r.appended)
}

// changed emits the differences between the pattern space and its lines.
func (r *runner) changed(text []byte, base int64) error {
	if r.changes != 1 || len(r.splices) == 0 {
		return r.replace(text, r.space, base)
	}
	for _, s := range r.splices {
		with := r.space[s.from:s.to]
		if bytes.Equal(text[s.start:s.end], with) {
			continue
		}
		if err := r.edit(base+int64(s.start), base+int64(s.end), with); err != nil {
			return err
		}
	}
	return nil
}

// replace emits the smallest change from old to text.
func (r *runner) replace(old, text []byte, base int64) error {
	if bytes.Equal(old, text) {
		return nil
	}
	start, most := 0, min(len(old), len(text))
	for start < most && old[start] == text[start] {
		start++
	}
	end := 0
	for end < most-start && old[len(old)-1-end] == text[len(text)-1-end] {
		end++
	}
	return r.edit(base+int64(start), base+int64(len(old)-end), text[start:len(text)-end])
}

// drop deletes the rest of the text.
func (r *runner) drop() error {
	l := &r.lines
	from := l.off + int64(l.next)
	for !l.end {
		l.next = len(l.buf)
		l.hold()
		if err := r.spend(len(l.buf)); err != nil {
			return err
		}
		if err := l.fill(); err != nil {
			return err
		}
	}
	to := l.off + int64(len(l.buf))
	if from == to {
		return nil
	}
	return r.edit(from, to, nil)
}
