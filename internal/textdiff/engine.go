package textdiff

import "math"

// engine finds a long common subsequence of two lists of lines. Each line is a number; equal lines have equal numbers.
// It marks the lines that are not in the subsequence.
type engine struct {
	a, b              []int32 // lines that are in both texts
	aLine, bLine      []int32 // their line numbers in the texts
	deleted, inserted []bool  // by line number
	over              func() bool

	front, back diagonals // of search
	renumber    []int32   // for anchors; all 0 between calls
}

// A search stops being exact after a number of changes from either end: the square root of the size of the box, within
// these limits. The upper limit keeps the time linear in the size of very large boxes.
const (
	minBound = 256
	maxBound = 512
)

// run compares a[aLo:aHi] with b[bLo:bHi]. tried is the size of the smallest box around this box in which anchors were
// looked for, 0 if there is none.
func (e *engine) run(aLo, aHi, bLo, bHi, tried int) {
	for {
		for aLo < aHi && bLo < bHi && e.a[aLo] == e.b[bLo] {
			aLo, bLo = aLo+1, bLo+1
		}
		for aLo < aHi && bLo < bHi && e.a[aHi-1] == e.b[bHi-1] {
			aHi, bHi = aHi-1, bHi-1
		}
		if aLo == aHi || bLo == bHi || e.over != nil && e.over() {
			for i := aLo; i < aHi; i++ {
				e.deleted[e.aLine[i]] = true
			}
			for j := bLo; j < bHi; j++ {
				e.inserted[e.bLine[j]] = true
			}
			return
		}
		size := aHi - aLo + bHi - bLo
		x, y, exact := e.search(e.a[aLo:aHi], e.b[bLo:bHi], min(max(minBound, int(math.Sqrt(float64(size)))), maxBound))
		// Looking for anchors takes time proportional to the box. It waits until the box has halved since the last time.
		// Otherwise a long sequence of boxes, each a little smaller than the one before, would take quadratic time.
		if !exact && (tried == 0 || size <= tried/2) {
			if blocks := e.anchors(e.a[aLo:aHi], e.b[bLo:bHi]); blocks != nil {
				a0, b0 := aLo, bLo
				for _, m := range blocks {
					e.run(a0, aLo+m.a, b0, bLo+m.b, size)
					a0, b0 = aLo+m.a+m.n, bLo+m.b+m.n
				}
				aLo, bLo, tried = a0, b0, size
				continue
			}
			tried = size
		}
		// Recurse into the smaller part, so that the stack is not deep.
		if x+y <= size/2 {
			e.run(aLo, aLo+x, bLo, bLo+y, tried)
			aLo, bLo = aLo+x, bLo+y
		} else {
			e.run(aLo+x, aHi, bLo+y, bHi, tried)
			aHi, bHi = aLo+x, bLo+y
		}
	}
}
