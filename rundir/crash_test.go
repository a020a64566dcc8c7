package rundir

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// crashes are the moments at which a machine stops while runs are worked on.
type crashes struct {
	t       *testing.T
	disk    *crashfs.Fs
	moments []stopped
	now     acknowledged
}

// acknowledged has the acknowledgements of a store: by run, the number of records appended, and the number of durable
// records. Removed runs have -1.
type acknowledged struct{ appended, durable map[int64]int }

type stopped struct {
	disk *crashfs.Fs
	op   string
	acknowledged
}

func newCrashes(t *testing.T) *crashes {
	c := &crashes{t: t, disk: crashfs.New(), now: acknowledged{map[int64]int{}, map[int64]int{}}}
	c.disk.Settle()
	c.disk.Before(func(op crashfs.Op) error {
		if op.Writes {
			c.stop(fmt.Sprint(op))
		}
		return nil
	})
	return c
}

func (c *crashes) stop(op string) {
	c.moments = append(c.moments, stopped{c.disk.Kill(), op,
		acknowledged{maps.Clone(c.now.appended), maps.Clone(c.now.durable)}})
}

// said records what a writer has acknowledged.
func (c *crashes) said(w *writer, r *record) {
	c.now.appended[w.number] = w.records.End().Count
	if synced(r) {
		c.now.durable[w.number] = w.records.End().Count
	}
}

// runAll makes all operations on runs: create, work, hold, play, retry, end, remove.
func (c *crashes) runAll() {
	t, s := c.t, openStore(c.t, c.disk, Options{})
	at := func(i int) *place { return &place{Step: "s", Index: i, Visit: 1, Attempt: 1} }
	add := func(w *writer, r *record) {
		t.Helper()
		fstest.Must(t, w.append(r))
		c.said(w, r)
	}
	long := func(w *writer, text string) value {
		v, err := w.value(strings.Repeat(text, 3_000))
		fstest.Must(t, err)
		return v
	}
	n := twoSteps()
	n.variables[0].Value = strings.Repeat("v", 5_000)
	one := createRun(t, s, n)
	c.said(one, &record{Kind: kindCreated})
	two := createRun(t, s, twoSteps())
	c.said(two, &record{Kind: kindCreated})
	add(one, &record{Kind: kindTake, Status: runs.Running, Take: one.me()})
	add(one, &record{Kind: kindStart, Job: 1, At: at(0)})
	fstest.Must(t, one.line(1, "a line"))
	add(one, &record{Kind: kindAnswer, Answer: &answer{Key: "k", Value: long(one, "answer")}})
	add(one, &record{Kind: kindDone, Job: 1, At: at(0), Done: &done{Result: long(one, "result"), Final: true}})
	add(one, &record{Kind: kindDone, At: at(1), Done: &done{Mark: true}})
	add(one, &record{Kind: kindHold, Status: runs.Manual, Reason: "look", Job: 2, At: at(1), Hold: &hold{}})
	fstest.Must(t, one.close())
	add(two, &record{Kind: kindEnd, Status: runs.Failed, End: &end{}})
	fstest.Must(t, two.index.Sync()) // the system may do this at any time
	fstest.Must(t, two.close())

	one, err := s.own(1)
	fstest.Must(t, err)
	add(one, &record{Kind: kindPlay, Status: runs.Pending, Play: &play{}})
	add(one, &record{Kind: kindDone, Job: 2, At: at(1), Done: &done{Result: long(one, "more"), Final: true}})
	add(one, &record{Kind: kindCommit, Job: 3, At: &place{Index: 2}})
	add(one, &record{Kind: kindEnd, Status: runs.Success, End: &end{Result: long(one, "whole")}})
	fstest.Must(t, one.close())
	two, err = s.own(2)
	fstest.Must(t, err)
	add(two, &record{Kind: kindRetry, Status: runs.Pending, Retry: &retry{}})
	add(two, &record{Kind: kindEnd, Status: runs.Canceled, End: &end{}})
	add(two, &record{Kind: kindRetry, Status: runs.Pending, Retry: &retry{}})
	add(two, &record{Kind: kindEnd, Status: runs.Success, End: &end{}})
	fstest.Must(t, two.close())
	three := createRun(t, s, twoSteps())
	c.said(three, &record{Kind: kindCreated})
	fstest.Must(t, three.close())
	one, err = s.own(1)
	fstest.Must(t, err)
	c.now.appended[1], c.now.durable[1] = 0, 0 // from here on it may be missing
	fstest.Must(t, one.discard())
	c.now.appended[1], c.now.durable[1] = -1, -1
	c.stop("the end")
}

// found checks the state that a restarted machine finds.
func found(t *testing.T, disk *crashfs.Fs, want map[int64]int) {
	t.Helper()
	s := openStore(t, disk, Options{})
	here := make(map[int64]int)
	var all []runs.Run
	for n := int64(1); n <= 4; n++ {
		l, err := s.look(n)
		switch {
		case err == nil:
			here[n] = l.end.Count
			all = append(all, l.run())
		case err != errNoRun:
			t.Fatalf("run %d: %v", n, err)
		}
	}
	for n, records := range want {
		if got, ok := here[n]; records > 0 && got < records || records < 0 && ok {
			t.Fatalf("run %d has %d records, %d were acknowledged", n, got, records)
		}
	}
	for _, status := range append(runs.Statuses(), "") {
		check(t, s, all, runs.Filter{Status: status, OrderBy: runs.ByUpdatedAt})
		check(t, s, all, runs.Filter{Status: status, Ascending: true, Paging: runs.Paging{PerPage: 1}})
		check(t, s, all, runs.Filter{Status: status, Paging: runs.Paging{PerPage: 1}})
	}
	for _, r := range all {
		check(t, s, all, runs.Filter{UpdatedAfter: r.UpdatedAt.Add(-1), Paging: runs.Paging{PerPage: 1}})
	}
	// Durable records are complete, with their bytes, and the process that now takes the run resumes it.
	for _, n := range slices.Sorted(maps.Keys(here)) {
		w, err := s.own(n)
		if err != nil {
			t.Fatalf("own %d: %v", n, err)
		}
		if got := w.records.End().Count; got < want[n] {
			t.Fatalf("run %d: %d records are whole, %d were acknowledged", n, got, want[n])
		}
		whole := w.records.End().Count
		v, err := w.value(strings.Repeat("x", 5_000))
		fstest.Must(t, err)
		fstest.Must(t, w.append(&record{Kind: kindEnd, Status: runs.Failed, End: &end{Result: v}}))
		fstest.Must(t, w.close())
		if l, err := s.look(n); err != nil || l.end.Count != whole+1 || l.status != runs.Failed {
			t.Fatalf("gone on with run %d: %v", n, err)
		}
	}
	w := createRun(t, s, twoSteps())
	if _, taken := here[w.number]; taken {
		t.Fatalf("number %d is given again", w.number)
	}
	fstest.Must(t, w.close())
}

// The process is killed, or the power fails, before each operation: nothing that was acknowledged is lost, every
// remaining run can be listed and continued, and the index agrees with the runs.
func TestCrash(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	c.runAll()
	rnd := rand.New(rand.NewPCG(fstest.Seed(t), 3))
	cuts := fstest.Runs(1, 6, 500)
	step := fstest.Runs(fstest.ByItself(6, 3), 1, 1)
	for i := 0; i < len(c.moments); i += step {
		m := c.moments[i]
		ok := t.Run(fmt.Sprintf("%d %s", i, m.op), func(t *testing.T) {
			found(t, m.disk.Kill(), m.appended)
			for range cuts {
				found(t, m.disk.PowerCut(rnd, rnd.Float64()), m.durable)
			}
		})
		if !ok {
			return
		}
	}
	fstest.Countf(t, "%d moments, %d power cuts each", (len(c.moments)+step-1)/step, cuts)
}

// Each operation fails in turn: the error is reported, and acknowledged records exist.
func TestFault(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		disk := crashfs.New()
		count := 0
		disk.Before(func(op crashfs.Op) error {
			if count++; op.Writes && count == at {
				return fmt.Errorf("operation %d: %w", at, recordlog.ErrFull)
			}
			return nil
		})
		acks := acknowledged{map[int64]int{}, map[int64]int{}}
		s := openStore(t, disk, Options{})
		err := faulty(s, acks.appended)
		over := count < at
		disk.Before(nil)
		found(t, disk, acks.appended)
		if over {
			fstest.Must(t, err)
			return
		}
	}
}

// faulty works on a run until something fails, and records what was acknowledged.
func faulty(s *Store, acknowledged map[int64]int) error {
	n := twoSteps()
	n.variables[0].Value = strings.Repeat("v", 5_000)
	w, err := s.create(context.Background(), n)
	if err != nil {
		return err
	}
	defer w.close()
	acknowledged[w.number] = 1
	for _, r := range []*record{
		{Kind: kindTake, Status: runs.Running, Take: w.me()},
		{Kind: kindDone, Job: 1, At: &place{Visit: 1, Attempt: 1}, Done: &done{Final: true}},
		{Kind: kindEnd, Status: runs.Success, End: &end{}},
	} {
		if r.Done != nil {
			if r.Done.Result, err = w.value(strings.Repeat("x", 5_000)); err != nil {
				return err
			}
		}
		if err := w.append(r); err != nil {
			return err
		}
		acknowledged[w.number]++
	}
	return w.close()
}
