package runs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/runs"
)

// ids returns the ids of runs in one text.
func ids(list []runs.Run) string {
	var all []string
	for _, r := range list {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

func TestFilter(t *testing.T) {
	at := func(hour int) time.Time { return noon.Add(time.Duration(hour) * time.Hour) }
	all := []runs.Run{
		{ID: "9", Project: "p", Name: "n", RefName: "b", SHA: "abcdef0123", Status: runs.Running, Source: "api", User: "bob", UpdatedAt: at(3)},
		{ID: "10", Project: "p", Name: "m", RefName: "a", SHA: "abcdef0999", Status: runs.Failed, Source: "cli", User: "ann", UpdatedAt: at(2), YAMLErrors: true},
		{ID: "11", Project: "p", Name: "n", RefName: "B", SHA: "abcdef0123", Status: runs.Failed, Source: "parent_pipeline", Parent: "9", User: "bob", UpdatedAt: at(4)},
		{ID: "12", Project: "p", Name: "n", RefName: "b", SHA: "abcdef0123", Status: runs.Success, Source: "api", User: "ann", UpdatedAt: at(1)},
		{ID: "13", Project: "q", Name: "n", RefName: "b", SHA: "abcdef0123", Status: runs.Running, Source: "api", User: "bob", UpdatedAt: at(3)},
	}
	yes, no := true, false
	tests := []struct {
		name   string
		filter runs.Filter
		want   string
	}{
		{"all", runs.Filter{}, "13 12 10 9"},
		{"project", runs.Filter{Project: "p"}, "12 10 9"},
		{"other project", runs.Filter{Project: "r"}, ""},
		{"status", runs.Filter{Status: runs.Running}, "13 9"},
		{"ref", runs.Filter{Ref: "b"}, "13 12 9"},
		{"ref is exact", runs.Filter{Ref: "B"}, ""},
		{"sha", runs.Filter{SHA: "abcdef0123"}, "13 12 9"},
		{"sha begins", runs.Filter{SHA: "ABCDEF09"}, "10"},
		{"user", runs.Filter{User: "ann"}, "12 10"},
		{"name", runs.Filter{Name: "m"}, "10"},
		{"source", runs.Filter{Source: "cli"}, "10"},
		{"children", runs.Filter{Source: runs.SourceParent}, "11"},
		{"errors", runs.Filter{YAMLErrors: &yes}, "10"},
		{"no errors", runs.Filter{YAMLErrors: &no}, "13 12 9"},
		{"after", runs.Filter{UpdatedAfter: at(2)}, "13 9"},
		{"before", runs.Filter{UpdatedBefore: at(2)}, "12"},
		{"between", runs.Filter{UpdatedAfter: at(1), UpdatedBefore: at(3)}, "10"},
		{"several", runs.Filter{Project: "p", User: "ann", Status: runs.Failed}, "10"},
		{"snapshot", runs.Filter{Snapshot: 12}, "12 10 9"},
		{"ascending", runs.Filter{Ascending: true}, "9 10 12 13"},
		{"by status", runs.Filter{OrderBy: runs.ByStatus}, "12 13 9 10"},
		{"by status, ascending", runs.Filter{OrderBy: runs.ByStatus, Ascending: true}, "10 9 13 12"},
		{"by ref", runs.Filter{OrderBy: runs.ByRef}, "13 12 9 10"},
		{"by time", runs.Filter{OrderBy: runs.ByUpdatedAt}, "13 9 10 12"},
		{"by user", runs.Filter{OrderBy: runs.ByUserID, Ascending: true}, "10 12 9 13"},
		{"pages", runs.Filter{Paging: runs.Paging{Page: 2, PerPage: 3}}, "9"},
		{"behind the end", runs.Filter{Paging: runs.Paging{Page: 3, PerPage: 3}}, ""},
	}
	for _, tt := range tests {
		before := slices.Clone(all)
		page := tt.filter.PageOf(all)
		if got := ids(page.Items); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if ids(before) != ids(all) {
			t.Errorf("%s: the list was changed", tt.name)
		}
		if want := max(tt.filter.Snapshot, 13*int64(1-min(1, tt.filter.Snapshot))); page.Snapshot != want {
			t.Errorf("%s: snapshot %d, want %d", tt.name, page.Snapshot, want)
		}
	}
	temporal := runs.Filter{Ascending: true}.PageOf([]runs.Run{{ID: "b"}, {ID: "010"}, {ID: "7"}, {ID: "a"}})
	if got := ids(temporal.Items); got != "7 010 a b" || temporal.Snapshot != 7 {
		t.Errorf("ids that are not numbers: %q, snapshot %d", got, temporal.Snapshot)
	}
}

// Runs created between two pages neither hide nor repeat others, in the order of ids.
func TestSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []runs.Run
		create := func(n int) {
			for range n {
				all = append(all, runs.Run{ID: fmt.Sprint(len(all) + 1)})
			}
		}
		create(rapid.IntRange(0, 30).Draw(t, "at first"))
		total := len(all)
		f := runs.Filter{Ascending: rapid.Bool().Draw(t, "ascending"),
			Paging: runs.Paging{PerPage: rapid.IntRange(1, 7).Draw(t, "per page")}}
		var seen []runs.Run
		for f.Paging.Page = 1; f.Paging.Page > 0; {
			page := f.PageOf(all)
			if page.Total != total && f.Snapshot > 0 {
				t.Fatalf("total is %d, was %d", page.Total, total)
			}
			seen = append(seen, page.Items...)
			f.Snapshot, f.Paging.Page = page.Snapshot, page.NextPage
			create(rapid.IntRange(0, 3).Draw(t, "meanwhile"))
		}
		want := slices.Clone(all[:total])
		slices.SortFunc(want, f.Compare)
		if ids(seen) != ids(want) && total > 0 {
			t.Fatalf("seen %q, want %q", ids(seen), ids(want))
		}
	})
}

// Compare is a total order of runs, and the other direction is the reverse.
func TestCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) runs.Run {
			return runs.Run{
				ID: rapid.SampledFrom([]string{"1", "2", "10", "x", "y"}).Draw(t, name), Status: rapid.SampledFrom(runs.Statuses()).Draw(t, name),
				RefName: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, name), UpdatedAt: noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, name))),
				User: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, name),
			}
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		up := runs.Filter{OrderBy: rapid.SampledFrom([]runs.Order{"", "id", "status", "ref", "updated_at", "user_id"}).Draw(t,
			"order"), Ascending: true}
		down := up
		down.Ascending = false
		if up.Compare(a, b) != -up.Compare(b, a) || up.Compare(a, b) != down.Compare(b, a) {
			t.Fatalf("a is before b and b before a")
		}
		if up.Compare(a, b) < 0 && up.Compare(b, c) < 0 && up.Compare(a, c) >= 0 {
			t.Fatalf("a, b, c go round")
		}
	})
}

func TestJobFilter(t *testing.T) {
	step := runs.JobStep
	all := []runs.Job{
		{ID: "12001", Kind: step, Name: "find", Status: runs.Success, Retried: true}, {ID: "12002", Kind: step, Name: "commit", Status: runs.Failed, Retried: true},
		{ID: "12003", Kind: step, Name: "fix", Status: runs.Created}, {ID: "12004", Kind: runs.JobCommit, Name: "commit", Status: runs.Created},
		{ID: "12005", Kind: step, Name: "commit", Status: runs.Failed, Retried: true}, {ID: "12006", Kind: step, Name: "find", Status: runs.Success},
		{ID: "12007", Kind: step, Name: "commit", Status: runs.Running},
	}
	tests := []struct {
		filter runs.JobFilter
		want   string
	}{
		{runs.JobFilter{}, "12006 12007 12003 12004"},
		{runs.JobFilter{IncludeRetried: true}, "12001 12002 12003 12004 12005 12006 12007"},
		{runs.JobFilter{Scope: []runs.Status{runs.Failed}}, ""},
		{runs.JobFilter{Scope: []runs.Status{runs.Failed, runs.Running}, IncludeRetried: true}, "12002 12005 12007"},
		{runs.JobFilter{Scope: []runs.Status{runs.Created}}, "12003 12004"},
		{runs.JobFilter{Paging: runs.Paging{Page: 2, PerPage: 3}}, "12004"},
	}
	for _, tt := range tests {
		var got []string
		for _, j := range tt.filter.PageOf(all).Items {
			got = append(got, j.ID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: got %v, want %s", tt.filter, got, tt.want)
		}
	}
}

// Problems of a filter in Go have the same words as in the commands.
func TestFilterCheck(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{runs.Filter{}.Check(), ""},
		{runs.Filter{Status: "x", SHA: "abcdef0", OrderBy: "up", Paging: runs.Paging{Page: -1, PerPage: 101}, Snapshot: -1}.Check(), "5 problems:" +
			"\n  - status 'x' is not one of " + statuses + "\n  - order_by 'up' is not one of id, status, ref, updated_at, user_id" +
			"\n  - snapshot must be 1 to 9007199254740992, got -1\n  - page must be 1 to 1000000000, got -1\n  - per_page must be 1 to 100, got 101"},
		{runs.Filter{SHA: "x"}.Check(), "sha must be 7 to 64 hexadecimal digits, got 'x'"},
		{runs.JobFilter{Scope: []runs.Status{runs.Manual, runs.Preparing}}.Check(), "scope 'preparing' is not one of " + scopes},
		{runs.JobFilter{Paging: runs.Paging{PerPage: -1}}.Check(), "per_page must be 1 to 100, got -1"},
		{runs.Paging{Page: 1, PerPage: 100}.Check(), ""},
		{runs.LogRange{Start: -7}.Check(), ""},
		{runs.LogRange{Limit: 10_001}.Check(), "limit must be 1 to 10000, got 10001"},
		{runs.LogRange{Start: -1_000_000_001}.Check(), "start must be -1000000000 to 1000000000, got -1000000001"},
	}
	for _, tt := range tests {
		if got := fmt.Sprint(tt.err); got != tt.want && (tt.err != nil || tt.want != "") {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
