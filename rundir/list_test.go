package rundir

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// crowd creates runs of all kinds, and returns the expected items of lists, read from their own records.
type crowd struct {
	t   testing.TB
	s   *Store
	rnd *rand.Rand
	// ended is the number of ended runs out of ten.
	ended int
}

func (c crowd) pick(words ...string) string { return words[c.rnd.IntN(len(words))] }

// make creates a run, in one of the states in which runs are left.
func (c crowd) make() {
	t := c.t
	t.Helper()
	n := newRun{status: runs.Created, steps: []stepName{{"find", "search"}}}
	n.created = created{
		Project: c.pick("p", "p", "q", "."), Name: c.pick("rename", "fix", ""), Ref: c.pick("a", "b", "A", "c/d", "ü"),
		SHA: c.pick("0123456789abcdef", "0123456aaaaaaaaa", "ffffffffffffffff", ""), Source: c.pick("api", "cli", "mcp"),
		User: c.pick("ann", "bob", "", "Zoe"),
	}
	switch c.rnd.IntN(12) {
	case 0:
		n.Source, n.Parent = runs.SourceParent, 1+c.rnd.Int64N(5)
	case 1:
		n.YAMLErrors, n.status, n.reason = true, runs.Failed, "no pipeline"
	case 2:
		if c.ended < 9 {
			n.status, n.StartAt = runs.Scheduled, began.Add(time.Hour)
		}
	case 3:
		if c.ended < 9 {
			n.Name = strings.Repeat("long ", 150) // more than fits into a slot
		}
	}
	w := createRun(t, c.s, n)
	defer func() { fstest.Must(t, w.close()) }()
	if n.status != runs.Created {
		return
	}
	add := func(r *record) { fstest.Must(t, w.append(r)) }
	end := func(status runs.Status) { add(&record{Kind: kindEnd, Status: status, End: &end{}}) }
	way := c.rnd.IntN(5)
	if c.rnd.IntN(10) < c.ended {
		way = 5
	}
	switch way {
	case 0: // no process has taken it
	case 1:
		add(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}) // the process has died
	case 2:
		add(&record{Kind: kindHold, Status: runs.Manual, Reason: "look", Job: 1, At: &place{Step: "find", Visit: 1, Attempt: 1}, Hold: &hold{}})
	case 3:
		end(runs.Failed)
		add(&record{Kind: kindRetry, Status: runs.Pending, Retry: &retry{}})
		end(runs.Success)
	case 4:
		end(runs.Failed)
		add(&record{Kind: kindRetry, Status: runs.Pending, Retry: &retry{}})
	default:
		end([]runs.Status{runs.Success, runs.Failed, runs.Canceled, runs.Skipped}[c.rnd.IntN(4)])
	}
}

// all returns the runs of a store without the index.
func (s *Store) all(t testing.TB) (all []runs.Run) {
	t.Helper()
	last, err := s.layout.last()
	fstest.Must(t, err)
	for n := int64(1); n <= last; n++ {
		l, err := s.look(n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l.run())
	}
	return all
}

func (c crowd) filter() runs.Filter {
	var f runs.Filter
	maybe := func(to *string, words ...string) {
		if c.rnd.IntN(4) == 0 {
			*to = c.pick(words...)
		}
	}
	maybe(&f.Project, "p", "q", "none")
	maybe((*string)(&f.Status), "failed", "success", "manual", "created", "scheduled", "pending", "canceled")
	maybe(&f.Ref, "a", "A", "ü")
	maybe(&f.SHA, "0123456", "0123456A", "0123456789abcdef", "1234567")
	maybe(&f.User, "ann", "Zoe")
	maybe(&f.Name, "fix", strings.Repeat("long ", 150))
	maybe(&f.Source, "api", "parent_pipeline")
	maybe((*string)(&f.OrderBy), "id", "status", "ref", "updated_at", "user_id")
	if c.rnd.IntN(4) == 0 {
		f.YAMLErrors = new(c.rnd.IntN(2) == 0)
	}
	if c.rnd.IntN(4) == 0 {
		f.UpdatedAfter = began.Add(time.Duration(c.rnd.IntN(1000)) * time.Second)
	}
	if c.rnd.IntN(4) == 0 {
		f.UpdatedBefore = began.Add(time.Duration(c.rnd.IntN(3000)) * time.Second)
	}
	f.Ascending = c.rnd.IntN(2) == 0
	if c.rnd.IntN(5) == 0 {
		f.Snapshot = 1 + c.rnd.Int64N(100)
	}
	f.Paging.Page, f.PerPage = c.rnd.IntN(5), []int{0, 1, 7, 50, 100}[c.rnd.IntN(5)]
	return f
}

// check compares a list with the result of the filter for runs in memory.
func check(t *testing.T, s *Store, all []runs.Run, f runs.Filter) {
	t.Helper()
	got, err := s.List(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	want := f.PageOf(all)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%+v:\n%s", f, diff)
	}
}

// A list equals the filter's list of all runs in memory, in any state of the index.
func TestList(t *testing.T) {
	t.Parallel()
	everyFs(t, func(t *testing.T, fsys afero.Fs) {
		s := openStore(t, fsys, Options{NoSync: true})
		c := crowd{t, s, rand.New(rand.NewPCG(fstest.Seed(t), 1)), 5}
		var stale []byte
		count := fstest.Runs(80, 800, 5000)
		for i := range count {
			if c.make(); i == count/2 {
				stale = []byte(fstest.Read(t, s.d.FS, s.path(indexFile)))
			}
		}
		all := s.all(t)
		filters := make([]runs.Filter, fstest.Runs(30, 100, 1000))
		for i := range filters {
			filters[i] = c.filter()
			check(t, s, all, filters[i])
		}
		indexes := map[string][]byte{"stale": stale, "noise": fstest.RandomBytes(c.rnd, len(stale)+77), "empty": {},
			"short": stale[:700]}
		harmed := []byte(fstest.Read(t, s.d.FS, s.path(indexFile)))
		for range 30 {
			harmed[c.rnd.IntN(len(harmed))] ^= 1 << c.rnd.IntN(8)
		}
		indexes["harmed"] = harmed
		for name, index := range indexes {
			fstest.Must(t, afero.WriteFile(s.d.FS, s.path(indexFile), index, 0o600))
			for _, f := range filters[:fstest.Runs(6, 12, 100)] {
				check(t, s, all, f)
			}
			if t.Failed() {
				t.Fatal(name)
			}
		}
		fstest.Must(t, s.d.FS.Remove(s.path(indexFile)))
		for _, f := range filters[:fstest.Runs(6, 12, 100)] {
			check(t, s, all, f)
		}
		fstest.Countf(t, "%d runs, %d filters, %d indexes", count, len(filters), len(indexes)+1)
	})
}

// Every filter and every order are tested on many runs.
func TestList_large(t *testing.T) {
	t.Parallel()
	s := openStore(t, fstest.OpenRoot(t, t.TempDir()), Options{NoSync: true})
	c := crowd{t, s, rand.New(rand.NewPCG(fstest.Seed(t), 2)), 9}
	for range fstest.Runs(1060, 10_000, 30_000) {
		c.make()
	}
	all := s.all(t)
	yes := true
	for _, f := range []runs.Filter{
		{}, {Project: "q"}, {Status: runs.Failed}, {Ref: "c/d"}, {SHA: "0123456"}, {User: "bob"}, {Name: "rename"}, {Source: "cli"},
		{Source: runs.SourceParent}, {YAMLErrors: &yes}, {UpdatedAfter: began.Add(20 * time.Minute)}, {UpdatedBefore: began.Add(20 * time.Minute)},
		{Snapshot: 1050},
	} {
		for _, order := range []runs.Order{"", runs.ByUpdatedAt, runs.ByStatus, runs.ByRef, runs.ByID,
			runs.ByUserID}[:fstest.Runs(2, 6, 6)] {
			if f.OrderBy = order; order == "" {
				f.Ascending = !f.Ascending
			}
			f.Paging = runs.Paging{Page: 1 + c.rnd.IntN(3), PerPage: 50}
			check(t, s, all, f)
		}
	}
	fstest.Countf(t, "%d runs", len(all))
}

// A reader that goes from page to page with the snapshot of the first sees every run of that time once, in the order of
// numbers, while others are created.
func TestList_snapshot(t *testing.T) {
	t.Parallel()
	s := openStore(t, fstest.OpenRoot(t, t.TempDir()), Options{NoSync: true})
	for range 25 {
		fstest.Must(t, createRun(t, s, twoSteps()).close())
	}
	for _, ascending := range []bool{false, true} {
		f := runs.Filter{Ascending: ascending, Paging: runs.Paging{PerPage: 7}}
		var seen []string
		for f.Paging.Page = 1; f.Paging.Page > 0; {
			page, err := s.List(t.Context(), f)
			fstest.Must(t, err)
			for _, r := range page.Items {
				seen = append(seen, r.ID)
			}
			if f.Snapshot == 0 {
				f.Snapshot = page.Snapshot
			}
			f.Paging.Page = page.NextPage
			fstest.Must(t, createRun(t, s, twoSteps()).close())
		}
		slices.Sort(seen)
		if want := int(f.Snapshot); len(seen) != want || len(slices.Compact(seen)) != want {
			t.Errorf("ascending %t: %d of %d runs: %q", ascending, len(seen), want, seen)
		}
	}
}

// A slot that differs from the run is ignored: shown items are read from the run itself.
func TestList_lyingIndex(t *testing.T) {
	t.Parallel()
	s := openStore(t, fstest.OpenRoot(t, t.TempDir()), Options{NoSync: true})
	for range 12 {
		w := createRun(t, s, twoSteps())
		work(t, w, runs.Success, false)
		fstest.Must(t, w.close())
	}
	f, err := s.openIndex()
	fstest.Must(t, err)
	defer f.Close()
	for n := int64(1); n <= 20; n += 2 { // also for unused numbers
		e := entry{number: n, status: runs.Failed, project: []byte("other"), name: []byte("lie"), user: []byte("eve"),
			updated: n}
		fstest.Must(t, fstest.ErrOf(f.WriteAt(e.encode(), n*slotSize)))
	}
	page, err := s.List(t.Context(), runs.Filter{Status: runs.Failed})
	if err != nil || len(page.Items) != 0 || page.Total != 0 {
		t.Errorf("%d runs that have not failed, %v", len(page.Items), err)
	}
	page, err = s.List(t.Context(), runs.Filter{OrderBy: runs.ByUserID, Ascending: true})
	var ids []string
	for _, r := range page.Items {
		ids = append(ids, r.ID)
		if r.Status != runs.Success || r.Name != "rename" {
			t.Errorf("%+v", r)
		}
	}
	if want := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}; !slices.Equal(ids, want) ||
		err != nil {
		t.Errorf("%q, %v", ids, err)
	}
}

// FuzzSlot: a slot with any content can be read and written again, or is ignored.
func FuzzSlot(f *testing.F) {
	e := entry{number: 7, parent: 3, status: runs.Failed, created: 5, updated: -6, project: []byte("p"), id: []byte("x")}
	f.Add(e.encode())
	e.name = make([]byte, 600)
	f.Add(e.encode())
	f.Add(make([]byte, slotSize))
	f.Fuzz(func(t *testing.T, slot []byte) {
		if len(slot) != slotSize {
			return
		}
		binary.BigEndian.PutUint32(slot, crcOf(slot[4:])) // otherwise hardly any slot passes the checksum
		var e, again entry
		if !e.decode(slot, 7, runs.Statuses()) {
			return
		}
		ok := again.decode(e.encode(), 7, runs.Statuses())
		if e.tooLong = again.tooLong; !ok || fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", e) {
			t.Fatalf("%+v, %t; want %+v", again, ok, e)
		}
	})
}

// A list reads the runs that it shows, but no others of a long queue, even if it filters by changing values.
func TestList_queue(t *testing.T) {
	t.Parallel()
	const count, shown = 60, 5
	var read atomic.Int64
	counting := errorfs.Wrap(fstest.OpenRoot(t, t.TempDir()), func(op *errorfs.Op, do func() error) error {
		if op.Kind == "open" && strings.HasSuffix(op.Name, "/"+runFile) {
			read.Add(1)
		}
		return do()
	})
	s := openStore(t, counting, Options{})
	for i := range count {
		n := twoSteps()
		n.User = []string{"ann", "bob"}[i%2]
		fstest.Must(t, createRun(t, s, n).close())
	}
	w := createRun(t, s, twoSteps())
	fstest.Must(t, w.append(&record{Kind: kindHold, Status: runs.Manual, Reason: "look", Job: 1, At: &place{Visit: 1}, Hold: &hold{}}))
	fstest.Must(t, w.close())
	for _, test := range []struct {
		f      runs.Filter
		total  int
		atMost int64 // number of runs read
	}{
		{runs.Filter{}, count + 1, shown},
		{runs.Filter{OrderBy: runs.ByRef, Project: "p", User: "ann"}, count/2 + 1, shown},
		{runs.Filter{Status: runs.Created, User: "Zoe"}, 0, 0},
		{runs.Filter{Status: runs.Created, User: "bob"}, count / 2, shown},
		{runs.Filter{Status: runs.Manual, Ascending: true}, 1, 1},
		{runs.Filter{OrderBy: runs.ByUpdatedAt}, count + 1, shown},
		{runs.Filter{OrderBy: runs.ByStatus, UpdatedAfter: began}, count + 1, shown},
	} {
		test.f.PerPage = shown
		read.Store(0)
		page, err := s.List(t.Context(), test.f)
		fstest.Must(t, err)
		if page.Total != test.total || len(page.Items) != min(shown, test.total) || read.Load() > 2*test.atMost {
			t.Errorf("%+v: %d of %d, %d files read", test.f, len(page.Items), page.Total, read.Load())
		}
	}
	// A slot without a run, as left by a power cut, is ignored.
	fstest.Must(t, counting.RemoveAll(s.run(7)))
	page, err := s.List(t.Context(), runs.Filter{Paging: runs.Paging{PerPage: shown}})
	if err != nil || page.Total != count {
		t.Errorf("%d runs, %v", page.Total, err)
	}
}
