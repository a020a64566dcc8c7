package runs_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/runs"
)

func TestPageOf(t *testing.T) {
	all := make([]int, 45)
	for i := range all {
		all[i] = i
	}
	tests := []struct {
		paging             runs.Paging
		page, per, n, next int
		first              int
	}{
		{runs.Paging{}, 1, 20, 20, 2, 0},
		{runs.Paging{Page: 2}, 2, 20, 20, 3, 20},
		{runs.Paging{Page: 3}, 3, 20, 5, 0, 40},
		{runs.Paging{Page: 4}, 4, 20, 0, 0, 0},
		{runs.Paging{PerPage: 45}, 1, 45, 45, 0, 0},
		{runs.Paging{PerPage: 44}, 1, 44, 44, 2, 0},
		{runs.Paging{PerPage: 500}, 1, 100, 45, 0, 0},
		{runs.Paging{PerPage: -1}, 1, 0, 0, 0, 0},
		{runs.Paging{Page: 1_000_000_000, PerPage: 100}, 1_000_000_000, 100, 0, 0, 0},
	}
	for _, tt := range tests {
		p := runs.PageOf(all, tt.paging)
		if p.Page != tt.page || p.PerPage != tt.per || len(p.Items) != tt.n || p.NextPage != tt.next || p.Total != 45 ||
			p.Items == nil {
			t.Errorf("%+v: got %+v", tt.paging, p)
		}
		if tt.n > 0 && p.Items[0] != tt.first {
			t.Errorf("%+v begins with %d, want %d", tt.paging, p.Items[0], tt.first)
		}
	}
}

func TestLogRange(t *testing.T) {
	tests := []struct {
		r                   runs.LogRange
		total, first, count int
		more                bool
	}{
		{runs.LogRange{}, 0, 1, 0, false},
		{runs.LogRange{}, 5, 1, 5, false},
		{runs.LogRange{}, 200, 1, 200, false},
		{runs.LogRange{}, 201, 2, 200, false},
		{runs.LogRange{Limit: 3}, 10, 8, 3, false},
		{runs.LogRange{Start: 1}, 201, 1, 200, true},
		{runs.LogRange{Start: 1, Limit: 3}, 10, 1, 3, true},
		{runs.LogRange{Start: 8, Limit: 3}, 10, 8, 3, false},
		{runs.LogRange{Start: 9, Limit: 3}, 10, 9, 2, false},
		{runs.LogRange{Start: 11}, 10, 11, 0, false},
		{runs.LogRange{Start: -1}, 10, 10, 1, false},
		{runs.LogRange{Start: -5, Limit: 2}, 10, 6, 2, true},
		{runs.LogRange{Start: -50}, 10, 1, 10, false},
		{runs.LogRange{Start: 1, Limit: 20_000}, 30_000, 1, 10_000, true},
	}
	for _, tt := range tests {
		first, count := tt.r.Bounds(tt.total)
		if first != tt.first || count != tt.count {
			t.Errorf("%+v of %d: %d lines from %d, want %d from %d", tt.r, tt.total, count, first, tt.count, tt.first)
		}
		l := tt.r.Log(tt.total, "text", true)
		start := tt.first
		if tt.count == 0 {
			start = 0
		}
		want := runs.Log{
			Trace: "text", TotalLines: tt.total, ShownLines: tt.count, StartLine: start, NextStart: tt.first + tt.count, HasMore: tt.more, Complete: true,
		}
		if l != want {
			t.Errorf("%+v of %d: got %+v, want %+v", tt.r, tt.total, l, want)
		}
	}
}

// A log that is read from NextStart on is read completely, each line once, while it grows.
func TestFollow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, next, seen := rapid.IntRange(0, 50).Draw(t, "lines"), 1, 0
		for range 5 {
			r := runs.LogRange{Start: next, Limit: rapid.IntRange(1, 20).Draw(t, "limit")}
			first, count := r.Bounds(total)
			l := r.Log(total, "", false)
			if count > 0 && first != seen+1 || l.HasMore != (seen+count < total) {
				t.Fatalf("%d lines from %d of %d after %d, more: %v", count, first, total, seen, l.HasMore)
			}
			seen, next = seen+count, l.NextStart
			total += rapid.IntRange(0, 20).Draw(t, "more")
		}
		if next != seen+1 {
			t.Fatalf("next is %d after %d lines", next, seen)
		}
	})
}
