package runs

import (
	"cmp"
	"slices"
	"strings"
)

// Check returns an *[ArgsError] that lists all problems of the filter, nil without problems.
func (f Filter) Check() error {
	var c collector
	if f.Status != "" {
		c.word("status", string(f.Status), words(Statuses()))
	}
	if f.SHA != "" {
		c.sha(f.SHA)
	}
	if f.OrderBy != "" {
		c.word("order_by", string(f.OrderBy), words(orders()))
	}
	if f.Snapshot != 0 {
		c.within("snapshot", f.Snapshot, 1, maxNumber)
	}
	f.Paging.check(&c)
	return c.err("")
}

func orders() []Order { return []Order{ByID, ByStatus, ByRef, ByUpdatedAt, ByUserID} }

// Match reports whether the filter selects the run. It ignores the order and the page.
func (f Filter) Match(r Run) bool {
	isChild := r.Source == SourceParent || r.Parent != ""
	switch {
	case f.Project != "" && f.Project != r.Project,
		f.Status != "" && f.Status != r.Status,
		f.Ref != "" && f.Ref != r.RefName,
		f.SHA != "" && !strings.HasPrefix(r.SHA, strings.ToLower(f.SHA)),
		f.User != "" && f.User != r.User,
		f.Name != "" && f.Name != r.Name,
		f.Source != "" && f.Source != r.Source,
		f.Source != SourceParent && isChild,
		f.YAMLErrors != nil && *f.YAMLErrors != r.YAMLErrors,
		!f.UpdatedAfter.IsZero() && !r.UpdatedAt.After(f.UpdatedAfter),
		!f.UpdatedBefore.IsZero() && !r.UpdatedAt.Before(f.UpdatedBefore):
		return false
	}
	n, isNumber := Number(r.ID)
	return f.Snapshot == 0 || isNumber && n <= f.Snapshot
}

// Compare returns a negative number if a comes before b in the list, a positive one if it comes after it, and 0 if they
// have the same ID.
func (f Filter) Compare(a, b Run) int {
	var order int
	switch f.OrderBy {
	case ByStatus:
		order = cmp.Compare(a.Status, b.Status)
	case ByRef:
		order = cmp.Compare(a.RefName, b.RefName)
	case ByUpdatedAt:
		order = a.UpdatedAt.Compare(b.UpdatedAt)
	case ByUserID:
		order = cmp.Compare(a.User, b.User)
	case ByID:
	}
	if order == 0 {
		order = compareIDs(a.ID, b.ID)
	}
	if f.Ascending {
		return order
	}
	return -order
}

// compareIDs orders numbers by their values, and before all other ids, which are ordered by their bytes.
func compareIDs(a, b string) int {
	m, isNumber := Number(a)
	n, isToo := Number(b)
	switch {
	case isNumber && isToo:
		return cmp.Compare(m, n)
	case isNumber:
		return -1
	case isToo:
		return 1
	}
	return cmp.Compare(a, b)
}

// PageOf returns the page of all these runs that the filter selects. The list is not changed. It is for engines with
// their runs in memory.
func (f Filter) PageOf(all []Run) Page[Run] {
	var chosen []Run
	var last int64
	for _, r := range all {
		n, _ := Number(r.ID)
		last = max(last, n)
		if f.Match(r) {
			chosen = append(chosen, r)
		}
	}
	slices.SortStableFunc(chosen, f.Compare)
	page := PageOf(chosen, f.Paging)
	page.Snapshot = cmp.Or(f.Snapshot, last)
	return page
}

// Check returns an *[ArgsError] that lists all problems of the filter, nil without problems.
func (f JobFilter) Check() error {
	var c collector
	for _, s := range f.Scope {
		c.word("scope", string(s), words(jobStatuses()))
	}
	f.Paging.check(&c)
	return c.err("")
}

// Match reports whether the scope includes the status of the job. It ignores whether the job was retried.
func (f JobFilter) Match(j Job) bool { return f.Scope == nil || slices.Contains(f.Scope, j.Status) }

// PageOf returns the page of the jobs of a run that the filter selects. The jobs are all jobs of the run, in the order
// of their numbers: first a job for each step in the order of the pipeline, then the commit, then the others in order
// of creation. The list is not changed.
func (f JobFilter) PageOf(jobs []Job) Page[Job] {
	if !f.IncludeRetried {
		jobs = latest(jobs)
	}
	var chosen []Job
	for _, j := range jobs {
		if f.Match(j) {
			chosen = append(chosen, j)
		}
	}
	return PageOf(chosen, f.Paging)
}

// latest returns the last job of each step, and the last commit, at the place of the first.
func latest(jobs []Job) []Job {
	type key struct {
		kind JobKind
		name string
	}
	places := make(map[key]int)
	var list []Job
	for _, j := range jobs {
		k := key{j.Kind, j.Name}
		if i, ok := places[k]; ok {
			list[i] = j
			continue
		}
		places[k] = len(list)
		list = append(list, j)
	}
	return list
}
