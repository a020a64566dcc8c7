package match

import (
	"context"
	"regexp/syntax"
)

// walker runs a program over a text instruction by instruction, all ways at once. It is what a [dfa] is not: it finds
// where the groups are, and takes no more time than the length of the text times the size of the program whatever
// both are. It is for one goroutine.
type walker struct {
	prog *syntax.Prog
	alphabet
	now, next ways
	width     int // of the place of each way
	loc       []int
	stack     []wayStep
}

// ways are the instructions reached at a place, the preferred ones first, and for each where its match and its groups
// begin and end.
type ways struct {
	list
	loc []int
}

// wayStep is an instruction to follow or, if slot is not negative, a place to be put back.
type wayStep struct {
	pc        uint32
	slot, old int
}

// run finds the leftmost of the longest matches that begin at from or later or, if to is not negative, the match
// between from and to. loc gets as many groups as it has room for. The error is that of the context.
func (w *walker) run(ctx context.Context, data []byte, from, to int, loc []int) (found bool, err error) {
	const often = 1 << 18 // instructions between two looks at the context
	if w.now.at == nil {
		w.now.list, w.next.list = newList(len(w.prog.Inst)), newList(len(w.prog.Inst))
	}
	w.width = len(loc)
	w.now.order = w.now.order[:0]
	before := atStart
	if from > 0 {
		before = w.pastOf(w.last(data[:from]), true, true)
	}
	for at, work := from, 0; ; {
		r, size := rune(-1), 0
		if at < len(data) {
			r, size = w.first(data[at:])
		}
		if !found && (to < 0 || at == from) {
			w.loc = append(w.loc[:0], loc...)
			for i := range w.loc {
				w.loc[i] = -1
			}
			w.loc[0] = at
			w.follow(&w.now, uint32(w.prog.Start), at, w.flags(before, r))
		}
		if len(w.now.order) == 0 && (found || to >= 0) {
			return found, nil
		}
		if work += 1 + len(w.now.order); work > often {
			if work = 0; ctx.Err() != nil {
				return false, ctx.Err()
			}
		}
		after := rune(-1)
		if at+size < len(data) {
			after, _ = w.first(data[at+size:])
		}
		before = w.pastOf(r, true, true)
		then := w.flags(before, after)
		w.next.order = w.next.order[:0]
		for i, pc := range w.now.order {
			in, way := &w.prog.Inst[pc], w.now.loc[i*w.width:]
			switch in.Op {
			case syntax.InstMatch:
				if to >= 0 && at != to {
					continue
				}
				found = true // it is longer than what was found before, or begins before that
				copy(loc, way[:w.width])
				if loc[1] = at; to >= 0 {
					return true, nil
				}
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				if r >= 0 && (!found || way[0] <= loc[0]) && in.MatchRune(r) {
					w.loc = append(w.loc[:0], way[:w.width]...)
					w.follow(&w.next, in.Out, at+size, then)
				}
			}
		}
		w.now, w.next = w.next, w.now
		if at == len(data) || at == to {
			return found, nil
		}
		at += size
	}
}

// follow adds to q what an instruction leads to without taking a character, in order of preference.
func (w *walker) follow(q *ways, pc uint32, at int, flags syntax.EmptyOp) {
	w.stack = append(w.stack[:0], wayStep{pc: pc, slot: -1})
	for len(w.stack) > 0 {
		step := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if step.slot >= 0 {
			w.loc[step.slot] = step.old
			continue
		}
		if !q.add(step.pc) {
			continue
		}
		// Each instruction has its place, so that the numbers are those of the list, but only some use it.
		if need := len(q.order) * w.width; len(q.loc) < need {
			q.loc = append(q.loc, make([]int, need-len(q.loc))...)
		}
		in := &w.prog.Inst[step.pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			w.stack = append(w.stack, wayStep{pc: in.Arg, slot: -1}, wayStep{pc: in.Out, slot: -1})
		case syntax.InstNop:
			w.stack = append(w.stack, wayStep{pc: in.Out, slot: -1})
		case syntax.InstCapture:
			if slot := int(in.Arg); 2 <= slot && slot < w.width {
				w.stack = append(w.stack, wayStep{slot: slot, old: w.loc[slot]})
				w.loc[slot] = at
			}
			w.stack = append(w.stack, wayStep{pc: in.Out, slot: -1})
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				w.stack = append(w.stack, wayStep{pc: in.Out, slot: -1})
			}
		case syntax.InstFail:
		default:
			copy(q.loc[(len(q.order)-1)*w.width:], w.loc)
		}
	}
}
