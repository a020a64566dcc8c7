package placing

import "github.com/millrace-go/millrace/internal/patch"

// Bits of a line in Text.taken. The gap bits are about the place before the line.
const (
	lineInRun = 1 << iota
	lineRemoved
	gapInRun
	gapFilled
)

// marks calls do with the effect of a hunk on each of its lines and gaps at a place.
func marks(h *patch.Hunk, at int, do func(line int, own, other uint8) bool) bool {
	first := at
	for l := range h.Lines() {
		ok := true
		switch l.Op {
		case '+':
			if !do(at, gapFilled, gapFilled|gapInRun) {
				return false
			}
			continue
		case '-':
			ok = do(at, lineInRun|lineRemoved, lineInRun)
		default:
			ok = do(at, lineInRun, lineRemoved)
		}
		if ok && at > first {
			ok = do(at, gapInRun, gapFilled)
		}
		if !ok {
			return false
		}
		at++
	}
	return true
}

// clashes reports whether a hunk at a place would change lines that an earlier hunk quotes, or quotes lines that an
// earlier hunk changes.
func (p *placing) clashes(h *patch.Hunk, at int) bool {
	if p.taken == nil {
		return false
	}
	clash := false
	marks(h, at, func(line int, _, other uint8) bool {
		clash = clash || p.taken[line]&other != 0
		return !clash
	})
	return clash
}

// take records the effect of a hunk.
func (p *placing) take(h *patch.Hunk, at int) {
	if p.taken != nil {
		marks(h, at, func(line int, own, _ uint8) bool { p.taken[line] |= own; return true })
	}
}
