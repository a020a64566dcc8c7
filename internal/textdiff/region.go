package textdiff

import "bytes"

var newline = []byte{'\n'}

// box is a pair of byte ranges of whole lines.
type box struct{ old, oldEnd, new, newEnd int }

// boxes turns regions into boxes that hold them, neither overlapping nor touching.
func boxes(old, new *source, regions []Region) []box {
	out := make([]box, 0, len(regions))
	for i, r := range regions {
		before, after := 0, old.size
		if i > 0 {
			before = regions[i-1].OldOff + regions[i-1].OldLen
		}
		if i+1 < len(regions) {
			after = regions[i+1].OldOff
		}
		b := widen(old, new, r, before, after)
		if n := len(out); n > 0 && b.old <= out[n-1].oldEnd {
			out[n-1].oldEnd, out[n-1].newEnd = b.oldEnd, b.newEnd
		} else {
			out = append(out, b)
		}
	}
	return out
}

// hold reports whether the regions lie within the texts, in order, and the bytes outside of them are the same.
func hold(old, new []byte, regions []Region) bool {
	o, n := 0, 0
	for _, r := range regions {
		if r.OldOff < o || r.OldLen < 0 || r.OldLen > len(old)-r.OldOff ||
			r.NewOff < n || r.NewLen < 0 || r.NewLen > len(new)-r.NewOff ||
			!bytes.Equal(old[o:r.OldOff], new[n:r.NewOff]) {
			return false
		}
		o, n = r.OldOff+r.OldLen, r.NewOff+r.NewLen
	}
	return bytes.Equal(old[o:], new[n:])
}

// widen returns the lines that a region touches. The bytes old[before:r.OldOff], and those from the region's end to
// old[:after], are the same in both texts, so a step into them is a step in both.
func widen(old, new *source, r Region, before, after int) box {
	b := box{r.OldOff, r.OldOff + r.OldLen, r.NewOff, r.NewOff + r.NewLen}
	back := b.old - old.lineStart(before, b.old)
	b.old -= back
	b.new -= back
	if old.startsLine(b.oldEnd) && new.startsLine(b.newEnd) {
		return b
	}
	ahead := old.lineEnd(b.oldEnd, after) - b.oldEnd
	b.oldEnd += ahead
	b.newEnd += ahead
	return b
}

// trim cuts off the lines that both sides of a box begin with, then those they end with. o and n are the two sides.
func trim(o, n []byte, b box) box {
	head := commonPrefix(o, n)
	tail := commonSuffix(o[head:], n[head:])
	t := widen(whole(o), whole(n), Region{head, len(o) - head - tail, head, len(n) - head - tail}, 0, len(o))
	return box{b.old + t.old, b.old + t.oldEnd, b.new + t.new, b.new + t.newEnd}
}

// stride is how many bytes are compared at once before looking for the place where they differ.
const stride = 512

func commonPrefix(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for i+stride <= n && bytes.Equal(a[i:i+stride], b[i:i+stride]) {
		i += stride
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for i+stride <= n && bytes.Equal(a[len(a)-i-stride:len(a)-i], b[len(b)-i-stride:len(b)-i]) {
		i += stride
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// atLineStart reports whether a line of text begins at off, or would if text went on.
func atLineStart(text []byte, off int) bool { return off == 0 || text[off-1] == '\n' }

// lineEnd returns the end of the line that begins at off, behind its line end if it has one.
func lineEnd(text []byte, off int) int {
	if n := bytes.IndexByte(text[off:], '\n'); n >= 0 {
		return off + n + 1
	}
	return len(text)
}

// countLines counts lines, one without a line end included.
func countLines(text []byte) int {
	n := bytes.Count(text, newline)
	if !atLineStart(text, len(text)) {
		n++
	}
	return n
}
