package rundir

import (
	"context"
	"errors"
	"io"
	"math"
	"time"

	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/runs"
)

// pieceSlots is the number of slots of the index that are read at once: half a shard, 250 KiB.
const pieceSlots = perShard / 2

// beginWait is the time that a list waits for a run that is being created, so that the run does not shift the runs of
// the next page.
const beginWait = 100 * time.Millisecond

// scan goes through the runs of a store, in the order of their numbers, with data from the index, or from their own
// records if the index is not enough.
type scan struct {
	s *Store
	// from is the lowest number to visit, rounded down to its shard; upTo is the highest.
	from, upTo int64
	// trusts reports whether the data of a slot is enough.
	trusts func(*entry) bool
	// visit is called for each run. It returns false to end the scan. The entry is only valid until it returns.
	visit func(*entry) bool
	// waits means that the scan waits for a run that is being created.
	waits bool
	// sure means that the slot of a run that has not ended is trusted only if the run has a directory: a power cut during
	// the creation of a run may leave only its slot.
	sure bool

	index    handle.RandomFile // nil: there is none
	buf      []byte
	statuses []runs.Status
	slot     []byte         // the current slot
	entry    entry          // of the current slot
	unknown  [perShard]bool // numbers of a shard that the index lacks
	there    map[int64]bool // numbers of the shard with a directory; nil: not read yet
	toRead   []int64
	over     bool
}

// everything is the highest possible number.
const everything = math.MaxInt64

func (c *scan) run(ctx context.Context) error {
	shards, err := c.s.shards()
	if err != nil {
		return err
	}
	c.statuses = runs.Statuses()
	// If the index is missing or damaged, the runs themselves have all its data.
	if c.index, err = handle.OpenFile(c.s.d.FS, c.s.path(indexFile)); err == nil {
		defer c.index.Close()
		c.buf = make([]byte, pieceSlots*slotSize)
	}
	for _, shard := range shards {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if shard*perShard > c.upTo || c.over {
			break
		}
		if shard < c.from/perShard {
			continue
		}
		if err := c.shard(ctx, shard); err != nil {
			return err
		}
	}
	return nil
}

func (c *scan) shard(ctx context.Context, shard int64) error {
	c.toRead, c.there = c.toRead[:0], nil
	gaps := false
	for first := shard * perShard; first < (shard+1)*perShard && !c.over; first += pieceSlots {
		gaps = c.piece(first) || gaps
	}
	if c.over {
		return nil
	}
	if gaps {
		there, err := c.s.inShard(shard)
		if err != nil {
			return err
		}
		for _, number := range there {
			if c.unknown[number%perShard] && number <= c.upTo {
				c.toRead = append(c.toRead, number)
			}
		}
	}
	for _, number := range c.toRead {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		l, err := c.s.look(number)
		if errors.Is(err, errNoRun) && c.waits {
			l, err = c.s.awaited(ctx, number)
		}
		switch {
		case errors.Is(err, errNoRun), errors.Is(err, runs.ErrDamaged):
			continue
		case err != nil:
			return err
		}
		e := entryOf(l.shownRun)
		if !l.foreign {
			e.signer = c.s.signer()
		}
		if c.over = !c.visit(&e); c.over {
			return nil
		}
	}
	return nil
}

// piece reads slots of the index, and reports whether it lacks some numbers.
func (c *scan) piece(first int64) (gaps bool) {
	whole := 0
	if c.index != nil {
		n, err := c.index.ReadAt(c.buf, first*slotSize)
		if err == nil || errors.Is(err, io.EOF) {
			whole = n / slotSize
		}
	}
	for i := range pieceSlots {
		number := first + int64(i)
		c.unknown[number%perShard] = false
		if number == 0 || number > c.upTo {
			continue
		}
		if i < whole {
			c.slot = c.buf[i*slotSize : (i+1)*slotSize]
			if e := &c.entry; e.decode(c.slot, number, c.statuses) {
				switch {
				case e.removed && !c.isThere(number):
				case e.removed, !c.trusts(e), c.sure && !e.settled() && !c.isThere(number):
					c.toRead = append(c.toRead, number)
				default:
					if c.over = !c.visit(e); c.over {
						return false
					}
				}
				continue
			}
		}
		c.unknown[number%perShard] = true
		gaps = true
	}
	return gaps
}

// isThere reports whether a run has a directory: a run that has not ended, or a new run with the number of a removed
// run, whose slot the removal may have replaced. If the directory cannot be listed, the records of a run that has not
// ended decide.
func (c *scan) isThere(number int64) bool {
	if c.there == nil {
		c.there = make(map[int64]bool)
		all, err := c.s.inShard(number / perShard)
		for _, n := range all {
			c.there[n] = err == nil
		}
	}
	return c.there[number]
}

// awaited loads a run that has a number but no record yet, and waits while it is being created.
func (s *Store) awaited(ctx context.Context, number int64) (*loaded, error) {
	for end := time.Now().Add(beginWait); ; {
		making, err := s.beingMade(number)
		l, lerr := s.look(number)
		if !errors.Is(lerr, errNoRun) || !making || err != nil || time.Now().After(end) {
			return l, lerr
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
	}
}

// beingMade reports whether a process may be about to write the first record of a run.
func (s *Store) beingMade(number int64) (bool, error) {
	held, err := s.locked(number)
	if err == nil && held {
		return true, nil
	}
	at, err := s.d.Look(s.run(number))
	return err == nil && time.Since(at.ModTime).Abs() < time.Second, err
}
