package placing

import "github.com/millrace-go/millrace/internal/patch"

// Bits of a line in Text.taken. The gap bits are about the place before the line.
const (
	lineInRun = 1 << iota
	lineRemoved
	gapInRun
	gapFilled
)

// effectsOf returns the operations of a hunk. Consecutive added lines are a single operation, because many added lines
// have the same effect on a gap as a single line. This saves time, because a hunk may be tried at many places.
func effectsOf(h *patch.Hunk) (ops []byte) {
	for l := range h.Lines() {
		if l.Op != '+' || len(ops) == 0 || ops[len(ops)-1] != '+' {
			ops = append(ops, l.Op)
		}
	}
	return ops
}

// marks calls do with the effect of a hunk on each of its lines and gaps at a place.
func marks(ops []byte, at int, do func(line int, own, other uint8) bool) bool {
	first := at
	for _, op := range ops {
		ok := true
		switch op {
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

// clashes reports whether the present hunk at a place would change lines that an earlier hunk quotes, or would quote
// lines that an earlier hunk changes.
func (p *placing) clashes(at int) bool {
	if p.taken == nil {
		return false
	}
	clash := false
	marks(p.effects, at, func(line int, _, other uint8) bool {
		clash = clash || p.taken[line]&other != 0
		return !clash
	})
	return clash
}

// take records the effect of the present hunk.
func (p *placing) take(at int) {
	if p.taken != nil {
		marks(p.effects, at, func(line int, own, _ uint8) bool { p.taken[line] |= own; return true })
	}
}
