package match

import "bytes"

var crlf = []byte("\r\n")

// view shows a text without the "\r" of each "\r\n", and converts offsets of the view to offsets of the text.
type view struct {
	data []byte // the text
	text []byte // the text in the view

	// The position of original: at is an offset of data, seen the same place in the view, next the first "\r\n" at or
	// after it, len(data) if not found. Matches come in order, so all of them together are one pass.
	at, seen, next int
}

func newView(data []byte) *view {
	v := &view{data: data, text: make([]byte, 0, len(data))}
	v.next = v.lineEnd(0)
	for at := 0; ; {
		end := v.lineEnd(at)
		v.text = append(v.text, data[at:end]...)
		if end == len(data) {
			return v
		}
		at = end + 1
	}
}

func (v *view) lineEnd(from int) int {
	if i := bytes.Index(v.data[from:], crlf); i >= 0 {
		return from + i
	}
	return len(v.data)
}

// original converts offsets of a match in the view to offsets of the text, in place. A place before a line end is
// before the whole line end. The matches must be passed in order.
func (v *view) original(loc []int) []int {
	loc[0] = v.seek(loc[0])
	inside := *v // groups are in any order, but within the match
	for i := 2; i < len(loc); i++ {
		if loc[i] >= 0 {
			from := inside
			loc[i] = from.seek(loc[i])
		}
	}
	loc[1] = v.seek(loc[1])
	return loc
}

// seek moves forward to an offset of the view and returns the offset of the text.
func (v *view) seek(offset int) int {
	for v.next < len(v.data) && v.seen+v.next-v.at < offset {
		v.seen += v.next - v.at
		v.at = v.next + 1 // after the "\r"
		v.next = v.lineEnd(v.at)
	}
	return v.at + offset - v.seen
}
