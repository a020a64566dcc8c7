package runs

import "cmp"

// maxNumber is the largest accepted number of a run, so that a job's number fits into 64 bits.
const maxNumber int64 = 1 << 53

// maxPage is the largest number of a page, and of a line of a log.
const maxPage = 1_000_000_000

// Check returns an *[ArgsError] that lists all problems, nil without problems.
func (p Paging) Check() error {
	var c collector
	p.check(&c)
	return c.err("")
}

func (p Paging) check(c *collector) {
	if p.Page != 0 {
		c.within("page", int64(p.Page), 1, maxPage)
	}
	if p.PerPage != 0 {
		c.within("per_page", int64(p.PerPage), 1, MaxPerPage)
	}
}

// Numbers returns the page and the number of items on it, with the defaults filled in.
func (p Paging) Numbers() (page, perPage int) {
	return max(1, p.Page), min(max(0, cmp.Or(p.PerPage, defaultPerPage)), MaxPerPage)
}

// Bounds returns the items on the page, for a total number of items: from index from up to index to, none after the
// end.
func (p Paging) Bounds(total int) (from, to int) {
	page, perPage := p.Numbers()
	first := int64(page-1) * int64(perPage) // more than an int can be on a 32-bit system
	from = int(min(first, int64(total)))
	return from, min(total, from+perPage)
}

// PageOf returns the requested page of a list.
func PageOf[T any](all []T, p Paging) Page[T] {
	page, perPage := p.Numbers()
	from, to := p.Bounds(len(all))
	result := Page[T]{Items: orEmpty(all[from:to]), Page: page, PerPage: perPage, Total: len(all)}
	if to > from && to < len(all) {
		result.NextPage = page + 1
	}
	return result
}

// Check returns an *[ArgsError] that lists all problems, nil without problems.
func (r LogRange) Check() error {
	var c collector
	c.within("start", int64(r.Start), -maxPage, maxPage)
	if r.Limit != 0 {
		c.within("limit", int64(r.Limit), 1, MaxLines)
	}
	return c.err("")
}

// Bounds returns the selected lines, for a total number of lines: count lines from line first on, which counts from 1.
// The count is 0 after the end.
func (r LogRange) Bounds(total int) (first, count int) {
	limit := min(max(0, cmp.Or(r.Limit, defaultLines)), MaxLines)
	switch {
	case r.Start > 0:
		first = r.Start
	case r.Start < 0:
		first = max(1, total+1+r.Start)
	default:
		first = max(1, total+1-limit)
	}
	return first, max(0, min(limit, total+1-first))
}

// Log returns the log of a job with a total number of lines and the text of the lines that Bounds has selected.
// complete means that no lines will be added.
func (r LogRange) Log(total int, trace string, complete bool) Log {
	first, count := r.Bounds(total)
	l := Log{Trace: trace, TotalLines: total, ShownLines: count, NextStart: first + count, Complete: complete}
	if count > 0 {
		l.StartLine, l.HasMore = first, first+count <= total
	}
	return l
}
