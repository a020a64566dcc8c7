package stage

import (
	"cmp"
	"context"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
)

// DriftCreated is the Reason of a path that another program has made.
const DriftCreated = "created"

// Drift is one path of the base that no longer has the state that the deltas rest on.
type Drift struct {
	Path   string
	Reason string // "content", "removed", "created", "kind", "mode", "target" or "entries"
	Delta  int    // the depth of the first delta that rests on it, from 0
}

// DriftError means that a stage cannot be rebuilt, because its base has changed. It matches [names.ErrDrift].
type DriftError struct {
	Drifts []Drift // at least one, by path
}

// Error names the first few paths.
func (e *DriftError) Error() string {
	paths := make([]string, len(e.Drifts))
	for i, d := range e.Drifts {
		paths[i] = d.Path + " (" + d.Reason + ")"
	}
	return "the tree has changed since it was read: " + names.Few(paths, ", ")
}

// Unwrap returns [names.ErrDrift].
func (e *DriftError) Unwrap() error { return names.ErrDrift }

// driftError returns the error for the drifts, nil without drifts.
func driftError(found []Drift) error {
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b Drift) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), a.Delta-b.Delta, strings.Compare(a.Reason, b.Reason))
	})
	return &DriftError{slices.CompactFunc(found, func(a, b Drift) bool { return a.Path == b.Path })}
}

// rest is one path of the base that deltas rest on.
type rest struct {
	told  *fact        // its earlier state
	hash  *change.Hash // of its bytes, if known
	delta int          // the first delta that has it

	entries     []entries // hashes of its entries when it was moved or removed, perhaps several times
	now         *fact     // its present state, after comparing
	reason      string    // the difference, "" without a difference
	reasonDelta int
}

// entries is the hash of the entries of a directory.
type entries struct {
	sum   change.Hash
	delta int // the delta that has it
}

// restsOf gathers the facts of all deltas, in the order of their numbers.
func restsOf(s *Stage, deltas []*delta) ([]rest, error) {
	var all []rest
	seen := make(map[string]bool)
	for i, d := range deltas {
		for _, f := range d.facts {
			if clean, err := names.Clean(f.path); err != nil || clean != f.path || f.path == "." || seen[f.path] {
				return nil, badDelta("a fact is about %q", f.path)
			}
			if err := s.guard.Check(f.path, guard.Look); err != nil {
				return nil, names.PathError("restore", f.path, err)
			}
			seen[f.path] = true
			all = append(all, rest{told: f, hash: f.hash.Load(), delta: i})
		}
		for _, sum := range d.sums {
			if sum.fact >= len(all) || all[sum.fact].told.kind != change.File {
				return nil, badDelta("there is no file %d", sum.fact)
			}
			all[sum.fact].hash = &sum.sum
		}
		for _, sum := range d.taken {
			if sum.fact >= len(all) || all[sum.fact].told.kind != change.Dir {
				return nil, badDelta("there is no directory %d", sum.fact)
			}
			all[sum.fact].entries = append(all[sum.fact].entries, entries{sum.sum, i})
		}
	}
	return all, nil
}

// compareAll compares the base with the facts of the deltas, and sets the present state of each path.
func (c *core) compareAll(ctx context.Context, rests []rest) error {
	err := parallel.Each(ctx, 2*runtime.GOMAXPROCS(0), len(rests), func(i int) error {
		r := &rests[i]
		r.reasonDelta = r.delta
		err := c.compare(r)
		return names.PathError("restore", r.told.path, err)
	})
	if err != nil {
		return err
	}
	var found []Drift
	for i := range rests {
		if r := &rests[i]; r.reason != "" {
			found = append(found, Drift{r.told.path, r.reason, r.reasonDelta})
		}
	}
	return driftError(found)
}

// compare compares one path. A file with other times and the same bytes is the same.
func (c *core) compare(r *rest) error {
	told := r.told
	if ok, err := c.standsIn(path.Dir(told.path)); !ok || err != nil {
		r.reason = "removed"
		return err
	}
	now, err := c.base.lstat(told.path)
	switch {
	case err != nil:
		return err
	case now == nil:
		r.reason = "removed"
	case now.kind != told.kind:
		r.reason = "kind"
	case now.mode != told.mode && now.kind != change.Symlink:
		r.reason = "mode"
	case now.target != told.target:
		r.reason = "target"
	}
	if r.reason != "" {
		return nil
	}
	r.now = c.base.keep(now)
	switch told.kind {
	case change.Dir:
		return c.compareDir(r)
	case change.File:
		return c.compareFile(r)
	case change.Absent, change.Symlink, change.Other:
	}
	return nil
}

// standsIn reports whether a path of the base and all paths above it are directories, so that no link leads elsewhere.
func (c *core) standsIn(dir string) (bool, error) {
	for ; dir != "."; dir = path.Dir(dir) {
		f, err := c.base.lstat(dir)
		if err != nil || f == nil || f.kind != change.Dir {
			return false, err
		}
	}
	return true, nil
}

func (c *core) compareDir(r *rest) error {
	if len(r.entries) == 0 {
		return nil
	}
	kids, err := c.children(nil, ent{f: r.now})
	if err != nil {
		return err
	}
	sums := make([]change.Hash, len(r.entries))
	for i, e := range r.entries {
		sums[i] = e.sum
	}
	other, err := c.otherThan(kids, sums)
	if err == nil && other >= 0 {
		r.reason, r.reasonDelta = "entries", r.entries[other].delta
	}
	return err
}

// compareFile compares bytes if the system does not report when a file was changed last.
func (c *core) compareFile(r *rest) error {
	told, now := r.told, r.now
	if r.hash == nil {
		r.hash = c.hashBefore(told)
	}
	looksSame := now.size == told.size && now.mtime.Equal(told.mtime) && now.id.Ino == told.id.Ino &&
		now.id.Dev == told.id.Dev && now.id.CTime == told.id.CTime
	switch {
	case looksSame && (now.id.CTime != 0 || r.hash == nil):
		if r.hash != nil {
			now.hash.Store(r.hash)
		}
	case now.size != told.size || r.hash == nil:
		r.reason = "content"
	default:
		h, err := c.hashOf(now.body())
		if err != nil {
			return err
		}
		if h != *r.hash {
			r.reason = "content"
		}
	}
	return nil
}

// take records a directory of the base that is moved or, if goes is set, removed. kids are its entries on the stage.
func (c *core) take(e ent, kids []kid, goes bool) error {
	f := e.fact()
	if c.mute || f == nil {
		return nil
	}
	if e.n != nil {
		var err error
		if kids, err = c.children(nil, ent{f: f}); err != nil {
			return err
		}
		for _, k := range kids {
			if s, staged := e.n.kids[k.name]; staged && s.isFresh() {
				return driftError([]Drift{{Path: k.base, Reason: DriftCreated}})
			}
		}
	}
	sum := sumOf(kids)
	if goes {
		facts, err := c.factsOf(kids)
		if err != nil {
			return err
		}
		sum = closeSumOf(kids, facts)
	}
	c.taken = append(c.taken, listing{at: len(c.log), dir: f, sum: sum})
	return nil
}
