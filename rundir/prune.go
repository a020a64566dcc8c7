package rundir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/runs"
)

// Limits of pruning: the least time between two prunings, the number of runs that a pruning removes, and the least age
// of an unused number that is removed.
const (
	pruneEvery = time.Minute
	mostPruned = 100
	sweepAge   = time.Hour
)

// prune removes the runs that the rules do not keep, unless it has just done so.
func (m *Manager) prune(ctx context.Context) error {
	now := m.store.now()
	m.mu.Lock()
	due := m.pruned.IsZero() || now.Sub(m.pruned) >= pruneEvery
	if due {
		m.pruned = now
	}
	m.mu.Unlock()
	if !due {
		return nil
	}
	if ok, err := m.store.present(); err != nil || !ok {
		return err
	}
	p := &pruner{m: m, now: now}
	return p.run(ctx)
}

// pruner removes runs.
type pruner struct {
	m     *Manager
	now   time.Time
	ended []prunable // by number
	// foreign are ended runs that the user's key has not signed.
	foreign []prunable
	known   map[int64]bool // whether a run is foreign
	done    int
	// children are the children of fleets, by number. open are the fleets with children that have not ended.
	children []prunable
	open     map[kin]bool
}

// kin is a run, and whether it is foreign. Foreign runs are counted separately: runs that came with the tree do not
// displace the user's own runs.
type kin struct {
	number  int64
	foreign bool
}

// prunable is a run that may be removed.
type prunable struct {
	kin
	id      string // from the index, which is not trusted: it is only used for a look-up
	updated int64
	parent  int64
}

func (p *pruner) run(ctx context.Context) error {
	s := p.m.store
	err := s.emptyTrash()
	p.known, p.open = make(map[int64]bool), make(map[kin]bool)
	me := s.signer()
	c := scan{s: s, upTo: everything}
	c.trusts = func(e *entry) bool { return e.settled() && e.signer == me && me != 0 }
	c.visit = func(e *entry) bool {
		foreign := e.signer == 0
		p.known[e.number] = foreign
		switch run := (prunable{kin{e.number, foreign}, string(e.id), e.updated, e.parent}); {
		case e.parent > 0:
			parent := kin{e.parent, foreign}
			p.children = append(p.children, run)
			p.open[parent] = p.open[parent] || !e.status.Ended()
		case e.status.Ended() && foreign:
			p.foreign = append(p.foreign, run)
		case e.status.Ended():
			p.ended = append(p.ended, run)
		}
		return true
	}
	if err := errors.Join(err, c.run(ctx)); err != nil {
		return err
	}
	for _, list := range [][]prunable{p.ended, p.foreign} { // the scan reads some runs after the slots of their shard
		slices.SortFunc(list, func(a, b prunable) int { return cmp.Compare(a.number, b.number) })
	}
	if n := len(p.ended); n > 0 {
		p.ended = p.ended[:n-1] // the newest stays
	}
	return errors.Join(p.limits(ctx, p.ended, 1), p.limits(ctx, p.foreign, 0), p.orphans(ctx), p.sweep(ctx),
		s.reindex(ctx))
}

// limits applies the limits to runs that are all foreign or all the user's own, the oldest first. more runs are kept in
// addition.
func (p *pruner) limits(ctx context.Context, list []prunable, more int) error {
	if len(list) == 0 {
		return nil
	}
	r := p.m.host.Retention
	keep := cmp.Or(r.Keep, defaultKeep)
	if keep < 0 {
		keep = math.MaxInt
	}
	over := len(list) + more - keep
	bytes, err := p.bytes(r.MaxBytes, list[0].foreign)
	if err != nil {
		return err
	}
	dataAge := cmp.Or(r.DataAge, defaultDataAge)
	for i, run := range list {
		if err := context.Cause(ctx); err != nil || p.done >= mostPruned {
			return err
		}
		age := p.now.Sub(time.Unix(0, run.updated))
		var err error
		switch {
		case p.open[run.kin]: // the whole fleet stays
		case i < over, r.MaxAge > 0 && age > r.MaxAge, r.MaxBytes > 0 && bytes > r.MaxBytes:
			if r.MaxBytes > 0 {
				bytes -= p.size(run.number) + p.childrenSize(run.kin)
			}
			err = p.remove(run, p.discard)
		case !run.foreign && dataAge > 0 && age > dataAge && p.hasData(run):
			err = p.remove(run, p.drop)
		}
		if err != nil {
			return fmt.Errorf("run %d: %w", run.number, err)
		}
	}
	return nil
}

// remove takes the run, and calls do with its writer, unless the run is worked on again. A foreign run is only removed,
// because paths in it may belong to another run.
func (p *pruner) remove(run prunable, do func(w *writer) error) error {
	release, err := p.m.claim(context.Background(), run.number)
	if err != nil {
		return nil // the manager is closed
	}
	defer release()
	if p.m.session(run.number) != nil {
		return nil
	}
	own := p.m.store.own
	if run.foreign {
		own = p.m.store.ownForeign
	}
	w, err := own(run.number)
	switch {
	case errors.Is(err, runs.ErrBusy), errors.Is(err, runs.ErrForeign), errors.Is(err, runs.ErrNotFound),
		errors.Is(err, runs.ErrDamaged):
		return nil
	case err != nil:
		return err
	}
	var id string // the index may have any id
	var parent int64
	w.state(func(f *folded) { id, parent = f.created.ID, f.created.Parent })
	if !w.status().Ended() || parent != run.parent {
		return w.close()
	}
	if parent == 0 {
		p.done++
	}
	if run.foreign {
		return w.discard()
	}
	shared, err := p.m.store.sharedDir(id)
	if err == nil {
		err = os.RemoveAll(shared)
	}
	return errors.Join(do(w), err)
}

// discard removes a run, and its stored result if its tree is known: the tree in whose state directory the store is.
// Other trees are not opened for that; [millrace.Executor.State.Results] limits how long they keep results.
func (p *pruner) discard(w *writer) error {
	s := p.m.store
	var id string
	w.state(func(f *folded) { id = f.created.ID })
	if err := w.discard(); err != nil || path.Base(s.dir) != journal.StoreDir {
		return err
	}
	results := path.Join(path.Dir(s.dir), journal.ResultsDir)
	if at, err := s.d.Look(results); err != nil || at.Kind != change.Dir {
		return err // a link may have come with the tree
	}
	return disk.UnlessAbsent(s.d.Remove(path.Join(results, id+".json")))
}

// orphans removes the children of removed fleets, and old data of other children.
func (p *pruner) orphans(ctx context.Context) error {
	dataAge := cmp.Or(p.m.host.Retention.DataAge, defaultDataAge)
	gone := make(map[int64]bool)
	for _, child := range p.children {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if _, known := gone[child.parent]; !known {
			at, err := p.m.store.d.Look(p.m.store.run(child.parent))
			gone[child.parent] = err == nil && at.Kind == change.Absent // an unreadable run exists
		}
		var err error
		switch old := dataAge > 0 && p.now.Sub(time.Unix(0, child.updated)) > dataAge; {
		case gone[child.parent]:
			err = p.remove(child, p.discard)
		case !child.foreign && old && p.hasData(child):
			err = p.remove(child, p.drop)
		}
		if err != nil {
			return fmt.Errorf("run %d: %w", child.number, err)
		}
	}
	return nil
}

// childrenSize returns the size of the files of a run's children, in bytes.
func (p *pruner) childrenSize(parent kin) (size int64) {
	for _, child := range p.children {
		if child.parent == parent.number && child.foreign == parent.foreign {
			size += p.size(child.number)
		}
	}
	return size
}

// drop removes the data of a run.
func (p *pruner) drop(w *writer) error {
	err := w.append(&record{Kind: kindState, Dropped: true})
	return errors.Join(err, w.close(), p.m.store.d.Remove(p.m.store.run(w.number, dataFile)))
}

// hasData reports whether a run has data that is removed at DataAge.
func (p *pruner) hasData(run prunable) bool {
	if at, err := p.m.store.d.Look(p.m.store.run(run.number, dataFile)); err == nil && at.Size > 0 {
		return true
	}
	dir, err := p.m.store.sharedDir(run.id)
	if err == nil {
		_, err = os.Lstat(dir)
	}
	return err == nil
}

// size returns the size of a run's files, in bytes.
func (p *pruner) size(number int64) (size int64) {
	for _, name := range []string{runFile, dataFile, logFile, planFile, diffFile, targetsFile, childrenFile} {
		if at, err := p.m.store.d.Look(p.m.store.run(number, name)); err == nil {
			size += at.Size
		}
	}
	return size
}

func (p *pruner) bytes(limit int64, foreign bool) (sum int64, err error) {
	if limit > 0 {
		for number, is := range p.known {
			if is == foreign {
				sum += p.size(number)
			}
		}
	}
	return sum, nil
}

// sweep removes numbers without a run: their processes were killed before the first record.
func (p *pruner) sweep(ctx context.Context) error {
	s := p.m.store
	shards, err := s.shards()
	if err != nil {
		return err
	}
	for _, shard := range shards {
		numbers, err := s.inShard(shard)
		if err != nil {
			return err
		}
		for _, number := range numbers {
			if _, known := p.known[number]; known {
				continue
			}
			if err := context.Cause(ctx); err != nil || p.done >= mostPruned {
				return err
			}
			if _, err := s.load(number); !errors.Is(err, errNoRun) {
				continue
			}
			at, err := s.d.Look(s.run(number))
			if err != nil || p.now.Sub(at.ModTime).Abs() < sweepAge {
				continue
			}
			p.done++
			if err := s.d.RemoveTree(s.run(number)); err != nil && !disk.IsAbsent(err) {
				return err
			}
		}
	}
	return nil
}
