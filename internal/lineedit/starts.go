package lineedit

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/millrace-go/millrace/internal/names"
)

// Range is the lines First to Last, which count from 1. It is empty if Last is First-1.
type Range struct{ First, Last int }

// Read calls do with the bytes of each range, piece by piece in the order of the text, until do returns an error.
func (f *File) Read(ranges []Range, do func(i int, piece []byte) error) (err error) {
	s := newStarts(ranges)
	borders := make([][2]int, len(ranges)) // of each range, as indices of s.at
	for i, r := range ranges {
		borders[i] = [2]int{s.index(r.First), s.index(r.Last + 1)}
	}
	drift := f.find(&s, func(part []byte) bool {
		off := s.off - int64(len(part))
		for i, b := range borders {
			if b[0] >= len(s.at) {
				continue // it begins later
			}
			from, to := max(s.at[b[0]], off), s.off
			if b[1] < len(s.at) {
				to = s.at[b[1]]
			}
			if from < to {
				if err = do(i, part[from-off:to-off]); err != nil {
					return false
				}
			}
		}
		return true
	})
	return cmp.Or(err, drift)
}

// starts are the offsets of some lines. The line after the last line begins at the end of the text.
type starts struct {
	lines []int   // ascending
	at    []int64 // offsets of these lines, as far as found
	off   int64   // number of bytes read
}

// newStarts returns the starts needed for the begin and end of each range.
func newStarts(ranges []Range) starts {
	s := starts{lines: make([]int, 0, 2*len(ranges))}
	for _, r := range ranges {
		s.lines = append(s.lines, r.First, r.Last+1)
	}
	slices.Sort(s.lines)
	s.lines = slices.Compact(s.lines)
	return s
}

func (s *starts) index(line int) int {
	i, _ := slices.BinarySearch(s.lines, line)
	return i
}

// find finds the offsets of the lines. seen, if not nil, is called with each part of the text afterwards, until it
// returns false.
func (f *File) find(s *starts, seen func(part []byte) bool) error {
	line, stopped := 1, false
	found := func(at int64) {
		if n := len(s.at); n < len(s.lines) && s.lines[n] == line {
			s.at = append(s.at, at)
		}
	}
	missing := func() bool {
		return len(s.at) < len(s.lines) && (s.lines[len(s.at)] <= f.Lines || seen != nil && s.off < f.size)
	}
	found(0)
	if missing() {
		err := f.read(func(part []byte) bool {
			if ahead := bytes.Count(part, []byte{'\n'}); line+ahead < s.lines[len(s.at)] {
				line += ahead
			} else {
				for pos := 0; len(s.at) < len(s.lines); {
					i := bytes.IndexByte(part[pos:], '\n')
					if i < 0 {
						break
					}
					pos += i + 1
					line++
					found(s.off + int64(pos))
				}
			}
			s.off += int64(len(part))
			stopped = seen != nil && !seen(part)
			return !stopped && missing()
		})
		if err != nil {
			return err
		}
		if !stopped && missing() {
			return names.ErrDrift // the text has become shorter since its lines were counted
		}
	}
	for len(s.at) < len(s.lines) {
		s.at = append(s.at, f.size)
	}
	return nil
}
