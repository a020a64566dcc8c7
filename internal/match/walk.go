package match

import (
	"context"
	"regexp/syntax"
	"slices"
)

// walker runs a program over a text instruction by instruction, along all ways at once. Unlike a [dfa] it finds the
// groups, and its time is bounded by the length of the text times the size of the program. It is not safe for
// concurrent use.
type walker struct {
	*engine
	now, next ways
	width     int // number of places of each way
	loc       []int
	before    past // the past of the place of follow
	after     rune // the character after it
	stack     []wayStep
}

// ways are the instructions reached at a place, the preferred instructions first, with the begin and end of the match
// and its groups for each.
type ways struct {
	list
	loc []int
}

// wayStep is an instruction to follow or, if slot is not negative, a place to restore.
type wayStep struct {
	pc        uint32
	slot, old int
}

// run finds the first match that begins at from or later or, if to is not negative, the match between from and to. It
// returns loc, with as many groups as loc has room for, or nil. The error is from the context.
func (w *walker) run(ctx context.Context, data []byte, from, to int, loc []int) ([]int, error) {
	const often = 1 << 18 // instructions between two checks of the context
	if w.now.at == nil {
		w.now.list, w.next.list = newList(len(w.prog.Inst)), newList(len(w.prog.Inst))
	}
	w.width = len(loc)
	w.now.order = w.now.order[:0]
	r, size := w.first(data[from:])
	w.before, w.after = atStart, r
	if from > 0 {
		w.before = w.pastOf(w.last(data[:from]), true, true)
	}
	found := false
	for at, work := from, 0; ; {
		if !found && (to < 0 || at == from) {
			w.loc = slices.Grow(w.loc[:0], w.width)[:w.width]
			for i := range w.loc {
				w.loc[i] = -1
			}
			w.loc[0] = at
			w.follow(&w.now, uint32(w.prog.Start), at, w.loc)
		}
		if len(w.now.order) == 0 && (found || to >= 0) {
			break
		}
		if work += 1 + len(w.now.order); work > often {
			if work = 0; ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		after, width := w.first(data[at+size:])
		w.before, w.after = w.pastOf(r, true, true), after
		w.next.order = w.next.order[:0]
		for i, pc := range w.now.order {
			in, way := &w.prog.Inst[pc], w.now.loc[i*w.width:]
			if in.Op == syntax.InstMatch && (to < 0 || at == to) {
				found = true // preferred to the match found before, longer, or further left
				copy(loc, way[:w.width])
				if loc[1] = at; !w.posix {
					break // the other ways are less preferred
				}
			}
			if in.Op >= syntax.InstRune && r >= 0 && (!found || way[0] <= loc[0]) && in.MatchRune(r) {
				w.follow(&w.next, in.Out, at+size, way[:w.width])
			}
		}
		w.now, w.next = w.next, w.now
		if at == len(data) || at == to {
			break
		}
		at, r, size = at+size, after, width
	}
	if !found {
		return nil, nil
	}
	return loc, nil
}

// follow adds the instructions that can be reached without a character to q, in order of preference. loc is unchanged
// when follow returns.
func (w *walker) follow(q *ways, pc uint32, at int, loc []int) {
	w.stack = append(w.stack[:0], wayStep{pc: pc, slot: -1})
	for len(w.stack) > 0 {
		step := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if step.slot >= 0 {
			loc[step.slot] = step.old
			continue
		}
		for pc := step.pc; q.add(pc); {
			// Each instruction has places, with the index of the list, but only some use them.
			if need := len(q.order) * w.width; len(q.loc) < need {
				q.loc = append(q.loc, make([]int, need-len(q.loc))...)
			}
			in := &w.prog.Inst[pc]
			switch in.Op {
			case syntax.InstAlt, syntax.InstAltMatch:
				w.stack = append(w.stack, wayStep{pc: in.Arg, slot: -1})
			case syntax.InstNop:
			case syntax.InstCapture:
				if slot := int(in.Arg); 2 <= slot && slot < w.width {
					w.stack = append(w.stack, wayStep{slot: slot, old: loc[slot]})
					loc[slot] = at
				}
			case syntax.InstEmptyWidth:
				if syntax.EmptyOp(in.Arg)&^w.flags(w.before, w.after) != 0 {
					continue
				}
			default:
				copy(q.loc[(len(q.order)-1)*w.width:], loc)
				continue
			}
			pc = in.Out
		}
	}
}
