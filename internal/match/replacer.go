package match

import (
	"bytes"
)

// Replacer computes the replacements of the matches of a pattern in one file. It is not safe for concurrent use.
type Replacer struct {
	template Template
	data     []byte
	whole    []byte // the replacement of every match, if all are the same
	adapt    bool   // the template's "\n" become the line ends of the file
	crlf     bool   // for a structural pattern: the lines of the file end in "\r\n"
	before   bool   // the line before data, if there is one, ends in "\r\n"

	ends []bool // the line ends of a match, true for "\r\n"
	line struct {
		to   int // up to this offset, places after the last match are in one line
		crlf bool
	}
}

// Replacer returns a replacer for the matches of the pattern in a window, in their order. The window must come from a
// Find with that template.
func (p *Pattern) Replacer(t Template, at *Window) *Replacer {
	data, before := at.Data, at.crlf
	r := &Replacer{template: t, data: data, before: before}
	r.adapt = p.adapts && t.lf && (before || bytes.Contains(data, crlf))
	if t.shape != nil {
		end := bytes.IndexByte(data, '\n')
		r.crlf = end > 0 && data[end-1] == '\r'
		return r
	}
	r.line.to = -1
	constant := !r.adapt
	for _, part := range t.parts {
		constant = constant && part.group < 0
	}
	if constant {
		r.whole = r.expand(nil)
	}
	return r
}

// Size returns the length of the replacement, in bytes, without making it. Each "\r" that is added for the line ends of
// the file comes on top of it; if letters change their case, the result may be up to about twice as long.
func (r *Replacer) Size(loc []int) int64 {
	switch {
	case r.whole != nil:
		return int64(len(r.whole))
	case r.template.shape != nil:
		return r.template.shape.Size(loc)
	}
	n := int64(0)
	for _, part := range r.template.parts {
		switch {
		case part.group < 0:
			n += int64(len(part.text))
		case loc[2*part.group] >= 0:
			n += int64(loc[2*part.group+1] - loc[2*part.group])
		}
	}
	return n
}

// Replace returns the replacement of the match. The result may be shared with other matches: do not change it.
func (r *Replacer) Replace(loc []int) []byte {
	switch {
	case r.whole != nil:
		return r.whole
	case r.template.shape != nil:
		return r.template.shape.Append(nil, r.data, loc, r.crlf)
	}
	if r.adapt {
		r.ends = r.lineEnds(r.ends[:0], loc[0], loc[1])
	}
	return r.expand(loc)
}

func (r *Replacer) expand(loc []int) []byte {
	out := []byte{}
	nth := 0
	var first Case // of an empty group, for the next part
	for _, part := range r.template.parts {
		as := part.as
		if as.First() == 0 {
			as |= first
		}
		first = 0
		switch {
		case part.group < 0 && r.adapt:
			out, nth = r.appendAdapted(out, as.text(part.text), nth)
		case part.group < 0:
			out = append(out, as.text(part.text)...)
		default:
			from, to := loc[2*part.group], loc[2*part.group+1]
			if from == to { // also where the group took no part
				first = as.First()
				continue
			}
			out = as.Append(out, r.data[from:to])
		}
	}
	return out
}

// appendAdapted appends text with the line ends of the match. nth is the number of line ends in the replacement so far.
func (r *Replacer) appendAdapted(out []byte, text string, nth int) ([]byte, int) {
	for i := range len(text) {
		if text[i] == '\n' {
			if r.ends[min(nth, len(r.ends)-1)] && (i == 0 || text[i-1] != '\r') {
				out = append(out, '\r')
			}
			nth++
		}
		out = append(out, text[i])
	}
	return out, nth
}

// lineEnds appends the line ends between two offsets, or, without line ends, the line end of the line of both.
func (r *Replacer) lineEnds(ends []bool, from, to int) []bool {
	for pos := from; pos < to; {
		i := bytes.IndexByte(r.data[pos:to], '\n')
		if i < 0 {
			break
		}
		ends = append(ends, r.endsCRLF(pos+i))
		pos += i + 1
	}
	if len(ends) > 0 {
		return ends
	}
	// A line may have very many matches, so its line end is looked up once.
	if to > r.line.to {
		r.line.to = len(r.data)
		if i := bytes.IndexByte(r.data[to:], '\n'); i >= 0 {
			r.line.to = to + i
			r.line.crlf = r.endsCRLF(r.line.to)
		} else if i := bytes.LastIndexByte(r.data[:from], '\n'); i >= 0 {
			r.line.crlf = r.endsCRLF(i)
		} else {
			r.line.crlf = r.before
		}
	}
	return append(ends, r.line.crlf)
}

// endsCRLF reports whether the newline at offset i is part of a "\r\n".
func (r *Replacer) endsCRLF(i int) bool { return i > 0 && r.data[i-1] == '\r' }
