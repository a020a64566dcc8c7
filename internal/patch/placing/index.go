package placing

import (
	"context"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/patch"
)

func decode(text []byte) (rune, int) { return utf8.DecodeRune(text) }

// Steps counts the comparisons of lines during placing. The zero Steps has counted none.
type Steps struct{ done, asked int64 }

// askEvery is the number of comparisons between two checks of the context.
const askEvery = 1_000_000

// Take counts comparisons. The error is a *[patch.LimitError] or from the context.
func (s *Steps) Take(ctx context.Context, n int) error {
	s.done += int64(n)
	if s.done > patch.MaxSteps {
		return &patch.LimitError{What: patch.WhatSteps, Limit: patch.MaxSteps}
	}
	if s.done-s.asked > askEvery {
		s.asked = s.done
		return ctx.Err()
	}
	return nil
}

// index finds the lines of hunks in a file, at one level.
type index struct {
	ids map[string]int32
	of  []int32   // for each line of the file, -1 if no hunk has it
	at  [][]int32 // lines of the file by id
}

// index returns the index of the file for the lines of these hunks at a level. It is made when first needed.
func (t *Text) index(ctx context.Context, hunks []patch.Hunk, level Level, steps *Steps) (*index, error) {
	if t.levels[level] != nil {
		return t.levels[level], nil
	}
	x := &index{ids: make(map[string]int32)}
	var key []byte
	learn := func(text string) {
		key = level.key(key[:0], []byte(text))
		if _, ok := x.ids[string(key)]; !ok {
			x.ids[string(key)] = int32(len(x.ids))
		}
	}
	for i := range hunks {
		h := &hunks[i]
		for _, a := range h.Anchors {
			learn(a)
		}
		if min(h.OldLines, h.NewLines) > t.lines() {
			continue
		}
		if err := steps.Take(ctx, h.OldLines+h.Added); err != nil {
			return nil, err
		}
		for l := range h.Lines() {
			learn(t.wanted(l))
		}
	}
	x.at = make([][]int32, len(x.ids))
	x.of = make([]int32, t.lines())
	counts := make([]int32, len(x.ids))
	for i := range x.of {
		if i%askEvery == 0 {
			if err := steps.Take(ctx, min(askEvery, len(x.of)-i)); err != nil {
				return nil, err
			}
		}
		key = level.key(key[:0], t.compared(i))
		id, ok := x.ids[string(key)]
		if !ok {
			x.of[i] = -1
			continue
		}
		x.of[i] = id
		counts[id]++
	}
	for i, id := range x.of {
		if id >= 0 {
			if x.at[id] == nil {
				x.at[id] = make([]int32, 0, counts[id])
			}
			x.at[id] = append(x.at[id], int32(i))
		}
	}
	t.levels[level] = x
	return x, nil
}

// idsOf returns the ids of lines of a hunk, false if any of them is not in the file.
func (x *index) idsOf(level Level, lines []string) ([]int32, bool) {
	ids := make([]int32, len(lines))
	var key []byte
	all := true
	for i, l := range lines {
		key = level.key(key[:0], []byte(l))
		id, ok := x.ids[string(key)]
		if !ok {
			id = -1
		}
		ids[i] = id
		all = all && ok && len(x.at[id]) > 0
	}
	return ids, all
}

// each calls do with every line at which the lines begin, in order, until it returns false. lines must not be empty.
func (x *index) each(ctx context.Context, level Level, lines []string, steps *Steps, do func(at int) bool) error {
	ids, all := x.idsOf(level, lines)
	if !all {
		return steps.Take(ctx, len(lines))
	}
	rarest := 0
	for i, id := range ids {
		if len(x.at[id]) < len(x.at[ids[rarest]]) {
			rarest = i
		}
	}
	for _, at := range x.at[ids[rarest]] {
		first := int(at) - rarest
		if first < 0 || first+len(ids) > len(x.of) {
			continue
		}
		n := 0
		for n < len(ids) && x.of[first+n] == ids[n] {
			n++
		}
		if err := steps.Take(ctx, n+1); err != nil {
			return err
		}
		if n == len(ids) && !do(first) {
			return nil
		}
	}
	return nil
}
