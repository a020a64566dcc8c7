package rundir

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// A complete small run needs at most seven fsyncs, and none with NoSync.
func TestSyncs(t *testing.T) {
	t.Parallel()
	for _, noSync := range []bool{false, true} {
		var syncs []string
		fsys := errorfs.Wrap(fstest.OpenRoot(t, t.TempDir()), errorfs.Before(func(op *errorfs.Op) error {
			if op.Kind == "sync" || op.Kind == "syncdir" {
				syncs = append(syncs, op.Kind+" "+op.Name)
			}
			return nil
		}))
		s := openStore(t, fsys, Options{NoSync: noSync})
		fstest.Must(t, createRun(t, s, twoSteps()).close())
		for _, large := range []bool{false, true} {
			syncs = nil
			w := createRun(t, s, twoSteps())
			work(t, w, runs.Success, large)
			fstest.Must(t, w.close())
			t.Logf("NoSync %t, large %t: %d: %s", noSync, large, len(syncs), strings.Join(syncs, ", "))
			if len(syncs) > 7 || noSync && len(syncs) > 0 || !noSync && len(syncs) < 4 {
				t.Errorf("%d fsyncs", len(syncs))
			}
		}
	}
}

// The mark of an attempt that acts outside of the tree is durable before the attempt begins: after a power cut, the run
// still knows that the attempt may have had its effect.
func TestSyncs_mark(t *testing.T) {
	t.Parallel()
	syncs := 0
	fsys := errorfs.Wrap(fstest.OpenRoot(t, t.TempDir()), errorfs.Before(func(op *errorfs.Op) error {
		if op.Kind == "sync" {
			syncs++
		}
		return nil
	}))
	w := createRun(t, openStore(t, fsys, Options{}), twoSteps())
	at := &place{Step: "find", Visit: 1, Attempt: 1}
	fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Running, Take: w.me()}))
	for _, test := range []struct {
		record  *record
		durable bool
	}{{&record{Kind: kindStart, Job: 1, At: at}, false}, {&record{Kind: kindDone, At: at, Done: &done{Mark: true}}, true}} {
		syncs = 0
		fstest.Must(t, w.append(test.record))
		if test.durable != (syncs > 0) {
			t.Errorf("%d fsyncs for a record of the kind %v", syncs, test.record.Kind)
		}
	}
	fstest.Must(t, w.close())
}

// The next owner, and nobody before, cuts off incomplete writes of a killed process.
func TestOwn_cutsTail(t *testing.T) {
	t.Parallel()
	fsys := fstest.OpenRoot(t, t.TempDir())
	s := openStore(t, fsys, Options{})
	w := createRun(t, s, twoSteps())
	fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}))
	first, err := w.value(strings.Repeat("x", 10_000))
	fstest.Must(t, err)
	at := &place{Step: "find", Visit: 1, Attempt: 1}
	fstest.Must(t, w.append(&record{Kind: kindDone, Job: 1, At: at, Done: &done{Result: value{JSON: json.RawMessage("{}")}, State: first}}))
	behind := w.records.End().Offset
	second, err := w.value(strings.Repeat("y", 10_000))
	fstest.Must(t, err)
	fstest.Must(t, w.append(&record{Kind: kindDone, Job: 2, At: &place{Step: "fix", Index: 1, Visit: 1, Attempt: 1},
		Done: &done{Result: value{JSON: json.RawMessage("{}")}, State: second}}))
	fstest.Must(t, w.append(&record{Kind: kindState, Status: runs.Running}))
	fstest.Must(t, w.close())

	run, data := s.run(1, runFile), s.run(1, dataFile)
	write := func(name string, do func(f afero.File) error) {
		t.Helper()
		f, err := fsys.OpenFile(name, os.O_RDWR, 0)
		fstest.Must(t, err)
		fstest.Must(t, errors.Join(do(f), f.Close()))
	}
	write(run, func(f afero.File) error {
		_, err := f.Seek(0, io.SeekEnd)
		return errors.Join(err, fstest.ErrOf(f.Write([]byte("01234567 half a rec"))))
	})
	write(data, func(f afero.File) error { // one byte of the second value
		return fstest.ErrOf(f.WriteAt([]byte("z"), second.Span.Offset+5_000))
	})
	size := func(name string) int64 {
		t.Helper()
		info, err := fsys.Stat(name)
		fstest.Must(t, err)
		return info.Size()
	}
	before := size(run)
	w, err = s.own(1)
	fstest.Must(t, err)
	if size(run) != before {
		t.Error("it was cut before anything was appended")
	}
	if len(w.run.line) != 1 || w.run.status != runs.Pending {
		t.Errorf("%d checkpoints, status %s", len(w.run.line), w.run.status)
	}
	fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}))
	third, err := w.value(strings.Repeat("w", 5_000))
	fstest.Must(t, err)
	if third.Span.Offset != second.Span.Offset {
		t.Errorf("the next bytes stand at %d, those that were cut at %d", third.Span.Offset, second.Span.Offset)
	}
	fstest.Must(t, w.append(&record{Kind: kindEnd, Status: runs.Failed, Reason: "no", End: &end{Result: third}}))
	fstest.Must(t, w.close())
	file := []byte(fstest.Read(t, fsys, run))
	r := recordlog.NewReader(file, testKey)
	count := 0
	for _, ok := r.Next(); ok; _, ok = r.Next() {
		count++
	}
	if count != 5 || r.Stop() != nil || int64(len(file)) <= behind {
		t.Errorf("%d records, stop %v", count, r.Stop())
	}
	if got := size(data); got != third.Span.Offset+third.Span.Length {
		t.Errorf("data has %d bytes", got)
	}
	l, err := s.load(1)
	fstest.Must(t, err)
	var text string
	d := &lazyData{layout: s.layout, number: 1}
	defer d.Close()
	if err := l.line[0].done.State.decode(d, &text); err != nil || text != strings.Repeat("x", 10_000) {
		t.Errorf("the first value: %d bytes, %v", len(text), err)
	}
	if err := l.end0().Result.decode(d, &text); err != nil || text != strings.Repeat("w", 5_000) {
		t.Errorf("the last value: %d bytes, %v", len(text), err)
	}
}

func (l *loaded) end0() *end { return l.folded.end }

// Retry keeps the checkpoints that it goes back to, and creates new jobs for the steps that run again.
func TestRetry(t *testing.T) {
	t.Parallel()
	s := openStore(t, afero.NewMemMapFs(), Options{})
	w := createRun(t, s, twoSteps())
	work(t, w, runs.Failed, false)
	defer w.close()
	from, ok := w.run.before(2)
	if from != 1 || !ok {
		t.Fatalf("before job 2: %d, %t", from, ok)
	}
	jobs, err := w.run.again(from)
	fstest.Must(t, err)
	if len(jobs) != 2 || jobs[0] != (newJob{4, 1}) || jobs[1] != (newJob{5, 2}) {
		t.Fatalf("new jobs %v", jobs)
	}
	fstest.Must(t, w.append(&record{Kind: kindRetry, Status: runs.Pending, Retry: &retry{From: from, Jobs: jobs}}))
	if len(w.run.line) != 1 || w.run.end != nil || !w.run.ended.IsZero() {
		t.Errorf("%d checkpoints, end %v", len(w.run.line), w.run.end)
	}
	for index, want := range []int{6, 4, 5} { // the first is done, so another attempt is a new job
		if got, err := w.jobFor(index); got != want || err != nil {
			t.Errorf("job for step %d is %d, %v; want %d", index, got, err, want)
		}
	}
	for name, bad := range map[string]*record{
		"a checkpoint that is not there": {Kind: kindRetry, Retry: &retry{From: 2}},
		"a job that is there":            {Kind: kindRetry, Retry: &retry{Jobs: []newJob{{5, 0}}}},
		"a job of no step":               {Kind: kindRetry, Retry: &retry{Jobs: []newJob{{6, 3}}}},
		"a job with a gap":               {Kind: kindStart, Job: 7, At: &place{}},
		"a job of another step":          {Kind: kindStart, Job: 4, At: &place{Index: 2}},
		"a second beginning":             {Kind: kindCreated, Created: &created{}},
		"no status":                      {Kind: kindState, Status: "lost"},
		"half a record":                  {Kind: kindDone, Job: 4},
		"no kind":                        {},
		"a mark with a job":              {Kind: kindDone, Job: 4, At: &place{Index: 1}, Done: &done{Mark: true}},
	} {
		was := w.records.End()
		if err := w.append(bad); err == nil || w.records.End() != was {
			t.Errorf("%s: taken, %v", name, err)
		}
	}
}

// A removed run is invisible at once, and its number is not used again while there is a later run.
func TestDiscard(t *testing.T) {
	t.Parallel()
	everyFs(t, func(t *testing.T, fsys afero.Fs) {
		s := openStore(t, fsys, Options{})
		for range 3 {
			w := createRun(t, s, twoSteps())
			work(t, w, runs.Success, false)
			fstest.Must(t, w.close())
		}
		w, err := s.own(2)
		fstest.Must(t, err)
		fstest.Must(t, w.discard())
		if page, err := s.List(t.Context(), runs.Filter{}); err != nil || page.Total != 2 || page.Items[1].ID != "1" {
			t.Errorf("%+v, %v", page, err)
		}
		if page, err := s.List(t.Context(), runs.Filter{Paging: runs.Paging{PerPage: 1}}); err != nil || page.Total != 2 {
			t.Errorf("%+v, %v", page, err)
		}
		if _, err := s.Get(t.Context(), runs.RunRef{ID: "2"}); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("Get: %v", err)
		}
		if _, err := s.own(2); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("own: %v", err)
		}
		if left, err := s.d.Names(s.path(trashDir)); err != nil || len(left) > 0 {
			t.Errorf("in the trash: %q, %v", left, err)
		}
		fstest.Must(t, s.d.FS.Mkdir(s.path(trashDir, "left"), 0o700))
		fstest.Must(t, s.emptyTrash())
		if left, err := s.d.Names(s.path(trashDir)); err != nil || len(left) > 0 {
			t.Errorf("in the trash: %q, %v", left, err)
		}
		again := openStore(t, fsys, Options{})
		w = createRun(t, again, twoSteps())
		if w.number != 4 {
			t.Errorf("the next number is %d", w.number)
		}
		fstest.Must(t, w.close())
	})
}

// Without a key runs are not durable, and runs of other users are foreign.
func TestKeys(t *testing.T) {
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME", "AppData"} {
		t.Setenv(name, "")
	}
	fsys := fstest.OpenRoot(t, t.TempDir())
	mine := openStore(t, fsys, Options{})
	fstest.Must(t, createRun(t, mine, twoSteps()).close())
	none, err := Open(fsys, "store/runs", Options{})
	fstest.Must(t, err)
	if _, err := none.create(t.Context(), twoSteps()); !errors.Is(err, runs.ErrNoKey) {
		t.Errorf("create: %v", err)
	}
	if _, err := none.own(1); !errors.Is(err, runs.ErrNoKey) {
		t.Errorf("own: %v", err)
	}
	got, err := none.Get(t.Context(), runs.RunRef{ID: "1"})
	if err != nil || !got.Foreign || got.Resumable || got.Name != "rename" {
		t.Errorf("%+v, %v", got, err)
	}
	theirs := openStore(t, fsys, Options{Key: []byte("another key, which is long enough")})
	if page, err := theirs.List(t.Context(), runs.Filter{}); err != nil || page.Total != 1 || !page.Items[0].Foreign {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := theirs.own(1); !errors.Is(err, runs.ErrForeign) {
		t.Errorf("own: %v", err)
	}
	if _, err := Open(fsys, "store/runs", Options{Key: []byte("short")}); err == nil {
		t.Error("a short key was taken")
	}
	if disk.InMemory(fsys) {
		t.Error("the test needs a file system that outlives the process")
	}
}
