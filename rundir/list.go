package rundir

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/runs"
)

// List implements [runs.Browser]. It filters by the index; each returned item is read from its own records.
func (s *Store) List(ctx context.Context, f runs.Filter) (runs.Page[runs.Run], error) {
	if err := f.Check(); err != nil {
		return runs.Page[runs.Run]{}, err
	}
	page, perPage := f.Numbers()
	result := runs.Page[runs.Run]{Items: []runs.Run{}, Page: page, PerPage: perPage, Snapshot: f.Snapshot}
	if ok, err := s.present(); err != nil || !ok {
		return result, err
	}
	l := &lister{s: s, f: f, sha: strings.ToLower(f.SHA), most: page * perPage, known: make(map[int64]*entry)}
	for range 4 {
		if err := l.scan(ctx); err != nil {
			return result, err
		}
		var whole bool
		var err error
		if result.Items, whole, err = l.shown(f.Paging); err != nil {
			return result, err
		}
		if whole {
			break // otherwise the index was wrong about a run, which is known now
		}
	}
	result.Total = l.total
	if _, to := f.Bounds(l.total); len(result.Items) > 0 && to < l.total {
		result.NextPage = page + 1
	}
	result.Snapshot = cmp.Or(f.Snapshot, l.last)
	return result, nil
}

// lister finds the runs of a page.
type lister struct {
	s    *Store
	f    runs.Filter
	sha  string
	most int // the number of runs that are kept
	// known are runs that the index was wrong about, nil for those that do not exist.
	known map[int64]*entry

	total int
	last  int64
	best  []pick
}

// pick is the data of a run for the order of a list.
type pick struct {
	number, time int64
	text         string
}

func (l *lister) scan(ctx context.Context) error {
	l.total, l.last, l.best = 0, 0, l.best[:0]
	c := scan{s: l.s, upTo: cmp.Or(l.f.Snapshot, everything), trusts: l.trusts, visit: l.visit,
		waits: l.f.Snapshot == 0,
		sure:  true}
	if err := c.run(ctx); err != nil {
		return err
	}
	slices.SortFunc(l.best, l.compare)
	return nil
}

func (l *lister) visit(e *entry) bool {
	l.last = max(l.last, e.number)
	if k, ok := l.known[e.number]; ok {
		if k == nil {
			return true
		}
		e = k
	}
	if !l.match(e) {
		return true
	}
	l.total++
	if len(l.best) >= 2*max(l.most, perShard) {
		slices.SortFunc(l.best, l.compare)
		l.best = l.best[:min(len(l.best), l.most)]
	}
	l.best = append(l.best, l.pick(e))
	return true
}

// trusts reports whether the slot is enough for this list. For a run that has not ended the slot may be stale, but the
// values that a run was created with never change: if the list uses only these, or excludes the run by these, the
// records are not needed. For a waiting run, the size of its records shows whether the slot is stale. That needs a
// fifth of the time for reading the records: 50 ms for 10,000 runs. A cheaper check is not enough, because a process
// may be killed, or the power fail, between a record and its slot.
func (l *lister) trusts(e *entry) bool {
	f := &l.f
	changes := f.Status != "" || f.OrderBy == runs.ByStatus || f.OrderBy == runs.ByUpdatedAt ||
		!f.UpdatedAfter.IsZero() ||
		!f.UpdatedBefore.IsZero()
	return e.settled() || !e.tooLong && (!changes || !l.matchCreated(e)) || e.waits() && l.s.hasSize(e.number, e.size)
}

// hasSize reports whether the records of a run have that size in bytes.
func (s *Store) hasSize(number, size int64) bool {
	at, err := s.d.Look(s.run(number, runFile))
	return err == nil && at.Kind == change.File && at.Size == size
}

// match is [runs.Filter.Match] for the run.
func (l *lister) match(e *entry) bool {
	f := &l.f
	return l.matchCreated(e) && (f.Status == "" || f.Status == e.status) &&
		(f.UpdatedAfter.IsZero() || time.Unix(0, e.updated).After(f.UpdatedAfter)) &&
		(f.UpdatedBefore.IsZero() || time.Unix(0, e.updated).Before(f.UpdatedBefore))
}

// matchCreated is match for the values that a run was created with.
func (l *lister) matchCreated(e *entry) bool {
	f := &l.f
	is := func(want string, got []byte) bool { return want == "" || want == string(got) }
	isChild := e.parent > 0 || string(e.source) == runs.SourceParent
	return is(f.Project, e.project) && is(f.Ref, e.ref) &&
		(l.sha == "" || bytes.HasPrefix(e.sha, []byte(l.sha))) && is(f.User, e.user) && is(f.Name, e.name) &&
		is(f.Source, e.source) && (!isChild || f.Source == runs.SourceParent) &&
		(f.YAMLErrors == nil || *f.YAMLErrors == e.yamlErrors)
}

func (l *lister) pick(e *entry) pick {
	p := pick{number: e.number}
	switch l.f.OrderBy {
	case runs.ByStatus:
		p.text = string(e.status)
	case runs.ByRef:
		p.text = string(e.ref)
	case runs.ByUserID:
		p.text = string(e.user)
	case runs.ByUpdatedAt:
		p.time = e.updated
	case runs.ByID, "":
	}
	return p
}

func (l *lister) compare(a, b pick) int {
	order := cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.time, b.time), cmp.Compare(a.number, b.number))
	if l.f.Ascending {
		return order
	}
	return -order
}

// shown returns the items of the page, each read from its own records. whole is false if the index was wrong about an
// item.
func (l *lister) shown(p runs.Paging) (items []runs.Run, whole bool, err error) {
	from, to := p.Bounds(l.total)
	items, whole = make([]runs.Run, 0, to-from), true
	for _, picked := range l.best[min(from, len(l.best)):min(to, len(l.best))] {
		r, err := l.s.look(picked.number)
		switch {
		case errors.Is(err, errNoRun), errors.Is(err, runs.ErrDamaged):
			l.known[picked.number], whole = nil, false
			continue
		case err != nil:
			return nil, false, err
		}
		e := entryOf(r.shownRun)
		if !l.match(&e) || l.pick(&e) != picked {
			l.known[picked.number], whole = &e, false
			if !l.match(&e) {
				continue
			}
		}
		items = append(items, r.run())
	}
	return items, whole, nil
}
