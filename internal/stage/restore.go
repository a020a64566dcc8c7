package stage

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// Restore rebuilds the state of a stage on an untouched stage from the deltas of a [Keeper], in their order. The stage
// then has the state of the last delta, with the order of its operations, and each delta is a savepoint: see
// [Keeper.Savepoint] of the returned Keeper, which continues with the next delta. Set the guard and the [Spill] first.
// The Spill must be the Spill of the first stage.
//
// The base is compared first with the facts of the deltas. The error is a *[DriftError] if the base has changed, and
// matches [ErrDelta] if the data is not a sequence of deltas. Deltas are untrusted input, so each path goes through the
// guard, and their size bounds the work. After an error the stage can only be closed. The deltas must not be modified
// before the stage is closed.
func Restore(ctx context.Context, s *Stage, deltas [][]byte) (*Keeper, error) {
	if s.err != nil {
		return nil, s.err
	}
	told := make([]*delta, len(deltas))
	parent := deltaDigest{}
	for i, data := range deltas {
		d, err := readDelta(data)
		if err == nil && (d.depth != i || d.parent != parent) {
			err = badDelta("it does not follow the one before it")
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("delta %d: %w", i, err)
		}
		told[i], parent = d, digestOf(data)
	}
	rests, err := restsOf(s, told)
	if err != nil {
		return nil, err
	}
	if len(s.log) > 0 || len(s.root.kids) > 0 {
		return nil, fmt.Errorf("restore: the stage is in use")
	}
	if err := s.compareAll(ctx, rests); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, Keeper: NewKeeper(s), c: s.core, rests: rests, taken: make(map[*fact]bool)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = true
	for i, d := range told {
		if err := b.apply(d); err != nil {
			return nil, fmt.Errorf("delta %d: %w", i, err)
		}
		b.mark(deltas[i], b.hashedNow)
		s.turn++
	}
	if err := driftError(b.drifts); err != nil {
		return nil, err
	}
	s.mute = false
	return b.Keeper, nil
}

// builder applies deltas one after the other.
type builder struct {
	*Keeper
	ctx   context.Context
	c     *core
	rests []rest
	taken map[*fact]bool // the facts that have a node
	seq   int            // of the stage after the delta
	// hashedNow are the facts of earlier deltas whose hash is in this delta.
	hashedNow []int
	drifts    []Drift
	lastBy    []toldOrigin // of splices, and the origins made from it
	lastOwn   []change.Origin
}

// at returns the thing with that number.
func at[T any](all []T, i int, what string) (thing T, err error) {
	if i < 0 || i >= len(all) {
		return thing, badDelta("there is no %s %d", what, i)
	}
	return all[i], nil
}

// each calls do for all things, until it fails or ctx is done.
func each[T any](b *builder, all []T, do func(thing T) error) error {
	for i, thing := range all {
		if i%1024 == 0 && b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		if err := do(thing); err != nil {
			return err
		}
	}
	return nil
}

// apply applies a delta.
func (b *builder) apply(d *delta) error {
	if d.depth == 0 {
		b.c.now, b.c.nonce = d.clock, d.nonce
		if b.c.root.from == nil {
			b.c.root.mtime = d.clock
		}
	}
	start := len(b.c.log)
	if b.seq = d.seq; d.seq < b.c.seq+len(d.metas)+len(d.slots) {
		return badDelta("it has more changes than there were")
	}
	b.hashedNow = nil
	for _, f := range d.facts {
		b.facts.add(b.rests[len(b.facts.all)].now)
		b.hashed = append(b.hashed, f.hash.Load() != nil)
	}
	for _, sum := range d.sums {
		if !b.hashed[sum.fact] {
			b.hashed[sum.fact] = true
			b.hashedNow = append(b.hashedNow, sum.fact)
		}
	}
	for _, sum := range d.taken {
		b.c.taken = append(b.c.taken, listing{at: start, dir: b.rests[sum.fact].now, sum: sum.sum})
	}
	stood := make(map[*node]slotKey) // places of nodes before this delta moved them
	for _, do := range []func() error{
		func() error { return each(b, d.steps, b.step) },
		func() error { return each(b, d.hides, b.hide) },
		func() error { return each(b, d.pages, b.page) },
		func() error { return each(b, d.bodies, b.body) },
		func() error { return each(b, d.nodes, b.node) },
		func() error { return each(b, d.links, b.link) },
		func() error { return each(b, d.metas, b.meta) },
		func() error { return each(b, d.slots, func(t toldSlot) error { return b.slot(t, stood) }) },
		func() error { return b.checkTree(d.slots, stood) },
		func() error { return b.checkPaths(b.c.log[start:], d) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	b.matched += b.matchedIn(d)
	b.c.seq = d.seq
	return nil
}

// matchedIn returns how many facts of files are used by nothing: they are there because a step has matched the files.
func (b *builder) matchedIn(d *delta) int {
	first := len(b.facts.all) - len(d.facts)
	used := make(map[int]bool)
	for _, t := range d.nodes {
		used[t.from-1] = true
	}
	for _, t := range d.bodies {
		used[t.src-1] = true
	}
	for _, t := range d.slots {
		used[t.under-1] = true
	}
	n := 0
	for i, f := range d.facts {
		if f.kind == change.File && !used[first+i] {
			n++
		}
	}
	return n
}

func (b *builder) step(id string) error {
	if _, twice := b.steps.has(id); twice {
		return badDelta("step %q comes twice", id)
	}
	b.steps.add(id)
	return nil
}

// page checks that the spill has the bytes.
func (b *builder) page(t toldPage) error {
	if t.size <= 0 || t.size > pageSize {
		return badDelta("a page has %d bytes", t.size)
	}
	data := make([]byte, t.size)
	err := b.c.unspill(data, t.off)
	switch {
	case err == io.ErrUnexpectedEOF: // the error must not look like the end of the delta
		err = badDelta("the bytes that were put aside are not there")
	case err == nil && change.HashOf(data) != t.sum:
		err = badDelta("the bytes are not those that were put aside")
	}
	if err != nil {
		return fmt.Errorf("%d bytes at %d: %w", t.size, t.off, err)
	}
	b.pages.add(&page{off: t.off, spilled: t.size, stored: true})
	return nil
}

func (b *builder) body(t toldBody) error {
	if t.src == 0 {
		return b.paged(t)
	}
	src, err := at(b.facts.all, t.src-1, "fact")
	if err != nil {
		return err
	}
	if src.kind != change.File {
		return badDelta("%s is not a file", src.path)
	}
	var old []change.Splice
	if t.like > 0 {
		like, err := at(b.bodies.all, t.like-1, "content")
		if err != nil {
			return err
		}
		if like.src != src {
			return badDelta("content %d is of another file", t.like-1)
		}
		old = like.splices
	}
	if t.head > len(old) || t.tail > len(old)-t.head {
		return badDelta("content %d has fewer edits", t.like-1)
	}
	made := &body{src: src, splices: slices.Concat(old[:t.head], make([]change.Splice, 0, len(t.splices)))}
	for _, sp := range t.splices {
		if sp.By, err = b.origins(sp.by); err != nil {
			return err
		}
		made.splices = append(made.splices, sp.Splice)
	}
	made.splices = append(made.splices, old[len(old)-t.tail:]...)
	if made.size, err = splice.Check(made.splices, src.size); err != nil {
		return badDelta("%s: %v", src.path, err)
	}
	if made.size > maxFile {
		return badDelta("%s: %v", src.path, names.ErrTooLarge)
	}
	if plain := src.body(); len(made.splices) == 0 {
		if _, known := b.bodies.has(plain); !known {
			made = plain
		}
	}
	b.bodies.add(made)
	return nil
}

// origins returns the steps that made an edit. Thousands of edits mostly have the same origins.
func (b *builder) origins(told []toldOrigin) ([]change.Origin, error) {
	if len(told) == 0 {
		return nil, nil
	}
	if len(b.lastBy) == len(told) && &b.lastBy[0] == &told[0] {
		return b.lastOwn, nil
	}
	own := make([]change.Origin, len(told))
	for i, t := range told {
		var err error
		if own[i], err = b.origin(t); err != nil {
			return nil, err
		}
	}
	b.lastBy, b.lastOwn = told, own
	return own, nil
}

func (b *builder) origin(t toldOrigin) (change.Origin, error) {
	step, err := at(b.steps.all, t.step, "step")
	return change.Origin{Step: step, Edit: t.edit}, err
}

func (b *builder) paged(t toldBody) error {
	made := &body{size: t.size, pages: make([]*page, len(t.pages))}
	for i, n := range t.pages {
		if n == 0 {
			continue
		}
		pg, err := at(b.pages.all, n-1, "page")
		if err != nil {
			return err
		}
		made.pages[i] = pg
	}
	b.bodies.add(made)
	return nil
}

// stamps returns the stamps of the delta, the first of them from the stamps of the node.
func (b *builder) stamps(t toldStamps, old []stamp) ([]stamp, error) {
	if t.same > len(old) {
		return nil, badDelta("%d of %d stamps are the same", t.same, len(old))
	}
	if t.same == 0 && len(t.more) == 0 {
		return nil, nil
	}
	all := slices.Clip(old[:t.same])
	for _, m := range t.more {
		o, err := b.origin(m.toldOrigin)
		if err != nil {
			return nil, err
		}
		if m.ago > b.seq {
			return nil, badDelta("something was done before the beginning")
		}
		all = append(all, stamp{o, b.seq - m.ago})
	}
	return all, nil
}

func (b *builder) removal(t toldRemoval) (*removal, error) {
	if t.gone&goneMask == goneNot {
		return nil, nil
	}
	by, err := b.stamps(toldStamps{more: t.by}, nil)
	gone := t.gone & goneMask
	return &removal{by: by, permanent: gone == goneForGood, replaced: gone == goneReplaced}, err
}
