// Package splice applies lists of splices to bytes, whole or as a stream, and combines two lists into one.
package splice

import (
	"fmt"
	"math"
	"slices"

	"github.com/millrace-go/millrace/change"
)

// Apply returns data with the splices applied. They must be in ascending order, must not overlap and must be inside
// data; otherwise the error names the wrong splice. Two splices that insert at the same offset are applied in the given
// order. Neither data nor the splices are changed; without splices the result is data itself.
func Apply(data []byte, splices []change.Splice) ([]byte, error) {
	size, err := Check(splices, int64(len(data)))
	if err != nil || len(splices) == 0 {
		return data, err
	}
	if size > math.MaxInt {
		return nil, fmt.Errorf("the result of %d bytes does not fit into memory", size)
	}
	return Append(make([]byte, 0, size), data, splices)
}

// Append is [Apply], but appends to existing memory.
func Append(out, data []byte, splices []change.Splice) ([]byte, error) {
	if _, err := Check(splices, int64(len(data))); err != nil {
		return nil, err
	}
	pos := int64(0)
	for _, s := range splices {
		out = append(out, data[pos:s.Off]...)
		out = append(out, s.Text...)
		pos = s.Off + s.Len
	}
	return append(out, data[pos:]...), nil
}

// Compose returns one list of splices that has the effect of first and then second. The offsets of second are in the
// result of first; the offsets of the returned list are in the original bytes. Splices of both lists that touch the
// same bytes become one, with the origins of both. The lists must be in ascending order and must not overlap. The
// arguments are not changed; the result shares their texts.
func Compose(first, second []change.Splice) ([]change.Splice, error) {
	if _, err := Check(first, math.MaxInt64); err != nil {
		return nil, fmt.Errorf("first list: %w", err)
	}
	if _, err := Check(second, math.MaxInt64); err != nil {
		return nil, fmt.Errorf("second list: %w", err)
	}
	if len(first) == 0 {
		return slices.Clone(second), nil
	}
	out := make([]change.Splice, 0, len(first)+len(second))
	c := composer{first: first, second: second}
	for len(c.first) > 0 || len(c.second) > 0 {
		switch {
		// Splices that only touch at their ends stay separate, so that each keeps its own origins.
		case len(c.second) == 0 || len(c.first) > 0 && c.firstEnd() <= c.second[0].Off:
			out = append(out, c.first[0])
			c.passFirst()
		case len(c.first) == 0 || spliceEnd(c.second[0]) <= c.firstStart():
			s := c.second[0]
			s.Off += c.shift
			out = append(out, s)
			c.second = c.second[1:]
		default:
			out = append(out, c.cluster())
		}
	}
	return out, nil
}

// composer walks through two lists at once. The "middle" is the result of first, to which second applies.
type composer struct {
	first, second []change.Splice // the remaining splices
	shift         int64           // from an offset in the middle to the original one, after the splices passed
}

func (c *composer) firstStart() int64 { return c.first[0].Off - c.shift }
func (c *composer) firstEnd() int64   { return c.firstStart() + int64(len(c.first[0].Text)) }

func (c *composer) passFirst() {
	c.shift += c.first[0].Len - int64(len(c.first[0].Text))
	c.first = c.first[1:]
}

// cluster joins the next splices of both lists, which overlap, and all splices that overlap with the result.
func (c *composer) cluster() change.Splice {
	start := min(c.firstStart(), c.second[0].Off)
	end := start
	out := change.Splice{Off: start + c.shift}
	pos := start // in the middle: the bytes before it are done
	// Within a cluster each byte of the middle is either replaced by a splice of second or part of a text of first;
	// otherwise the chain of overlaps would end there.
	var texts []change.Splice // of first, with Off in the middle
	copyUpTo := func(limit int64) {
		for len(texts) > 0 && texts[0].Off < limit {
			t := texts[0]
			textEnd := t.Off + int64(len(t.Text))
			if from, to := max(pos, t.Off), min(limit, textEnd); from < to {
				out.Text = append(out.Text, t.Text[from-t.Off:to-t.Off]...)
			}
			if textEnd > limit {
				break
			}
			texts = texts[1:]
		}
		pos = max(pos, limit)
	}
	var before, by origins
	for {
		switch {
		case len(c.first) > 0 && (c.firstStart() < end || end == start && c.firstStart() == start):
			s := c.first[0]
			s.Off = c.firstStart()
			end = max(end, c.firstEnd())
			texts = append(texts, s)
			before.add(s.By)
			c.passFirst()
		case len(c.second) > 0 && (c.second[0].Off < end || end == start && c.second[0].Off == start):
			s := c.second[0]
			end = max(end, spliceEnd(s))
			// All texts of first that reach into this gap have been read: they start before s ends, and the case above reads
			// those before s. Texts that start within s are cut off by pos.
			copyUpTo(s.Off)
			out.Text = append(out.Text, s.Text...)
			pos = max(pos, spliceEnd(s))
			by.add(s.By)
			c.second = c.second[1:]
		default:
			copyUpTo(end)
			out.Len = end + c.shift - out.Off
			before.add(by.list)
			out.By = before.list
			return out
		}
	}
}

// Check checks that the splices are in order and within size bytes, and returns the size of the result.
func Check(splices []change.Splice, size int64) (int64, error) {
	result, end := size, int64(0)
	for i, s := range splices {
		switch {
		case s.Off < 0 || s.Len < 0 || s.Off > size || s.Len > size-s.Off:
			return 0, fmt.Errorf("splice %d (offset %d, length %d) is out of range: there are %d bytes", i, s.Off,
				s.Len, size)
		case s.Off < end:
			return 0, fmt.Errorf("splice %d (offset %d) overlaps with the one before it or is out of order", i, s.Off)
		}
		end = s.Off + s.Len
		result -= s.Len
		if size != math.MaxInt64 {
			result += int64(len(s.Text))
		}
	}
	return result, nil
}

func spliceEnd(s change.Splice) int64 { return s.Off + s.Len }

// origins collects the origins of splices that become one, each once. Thousands of edits can meet in one splice, so
// adding one takes constant time.
type origins struct {
	list []change.Origin
	own  bool                   // the list has its own memory; at first it shares that of a splice
	has  map[change.Origin]bool // nil while there are few
}

// add adds the origins that are not in the list yet.
func (s *origins) add(by []change.Origin) {
	if len(s.list) == 0 {
		s.list = by
		return
	}
	for _, o := range by {
		if s.contains(o) {
			continue
		}
		if !s.own {
			s.list, s.own = slices.Clip(s.list), true
		}
		s.list = append(s.list, o)
		if s.has != nil {
			s.has[o] = true
		}
	}
}

func (s *origins) contains(o change.Origin) bool {
	const few = 16
	if len(s.list) <= few {
		return slices.Contains(s.list, o)
	}
	if s.has == nil {
		s.has = make(map[change.Origin]bool, 2*len(s.list))
		for _, known := range s.list {
			s.has[known] = true
		}
	}
	return s.has[o]
}
