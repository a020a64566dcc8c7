package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// planted returns a store of three successful runs, in a directory that a test then changes as a stranger could.
func planted(t *testing.T) (s *Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	s = openStore(t, openDir(t, dir), Options{NoSync: true})
	for range 3 {
		w := createRun(t, s, twoSteps())
		work(t, w, runs.Success, true)
		fstest.Must(t, w.close())
	}
	return s, filepath.Join(dir, "store", "runs")
}

// seen returns the items of a list, and reads all other visible data of the second run.
func seen(t *testing.T, s *Store) (list []string, get error) {
	t.Helper()
	page, err := s.List(t.Context(), runs.Filter{Ascending: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range page.Items {
		text := r.ID
		if r.Foreign {
			text += " foreign"
		}
		list = append(list, text)
	}
	_, get = s.Get(t.Context(), runs.RunRef{ID: "2"})
	for _, err := range []error{
		fstest.ErrOf(s.Jobs(t.Context(), runs.RunRef{ID: "2"}, runs.JobFilter{})),
		fstest.ErrOf(s.Job(t.Context(), runs.JobRef{ID: "2/fix"})),
		fstest.ErrOf(s.Triggers(t.Context(), runs.RunRef{ID: "2"}, runs.Paging{})),
	} {
		if (err == nil) != (get == nil) {
			t.Errorf("Get: %v, but: %v", get, err)
		}
	}
	return list, get
}

// Links, pipes and directories in place of files are neither followed nor waited for.
func TestPlanted_files(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	fstest.Must(t, os.WriteFile(secret, []byte("1 t secret\n2 t secret\n"), 0o600))
	kinds := map[string]func(name string) error{
		"link":      func(name string) error { return os.Symlink(secret, name) },
		"directory": func(name string) error { return os.Mkdir(name, 0o700) },
		"pipe":      makePipe,
		"noise":     func(name string) error { return os.WriteFile(name, bytes.Repeat([]byte("noise\n"), 2000), 0o600) },
	}
	for kind, plant := range kinds {
		for _, name := range []string{"run", "data", "log", "index"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				s, dir := planted(t)
				full := filepath.Join(dir, "000000", "000000002", name)
				if name == indexFile {
					full = filepath.Join(dir, name)
				}
				fstest.Must(t, os.Remove(full))
				if err := plant(full); err != nil {
					t.Skip(err)
				}
				list, get := seen(t, s)
				want := "1 2 3"
				if name == runFile {
					wantErr := runs.ErrDamaged
					if kind == "noise" { // a power cut may leave this of a run that was just created
						wantErr = runs.ErrNotFound
					}
					if want = "1 3"; !errors.Is(get, wantErr) {
						t.Errorf("Get: %v", get)
					}
				} else if get != nil {
					t.Errorf("Get: %v", get)
				}
				if got := strings.Join(list, " "); got != want {
					t.Errorf("list %s, want %s", got, want)
				}
				log, err := s.Logs(t.Context(), runs.JobRef{ID: "2002"}, runs.LogRange{})
				if strings.Contains(log.Trace, "secret") || name == logFile && kind != "noise" && !errors.Is(err, runs.ErrDamaged) {
					t.Errorf("log %q, %v", log.Trace, err)
				}
				if name == runFile {
					if _, err := s.own(2); !errors.Is(err, runs.ErrDamaged) && !errors.Is(err, runs.ErrNotFound) {
						t.Errorf("own: %v", err)
					}
				}
				// A run that is created now does not write through planted files either.
				w := createRun(t, s, twoSteps())
				work(t, w, runs.Success, true)
				fstest.Must(t, w.close())
				if data, err := os.ReadFile(secret); err != nil || len(data) != 22 {
					t.Errorf("the secret has become %q, %v", data, err)
				}
			})
		}
	}
}

// If a directory on the way is a link to elsewhere, it is not part of the store.
func TestPlanted_directories(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"000000", filepath.Join("000000", "000000002")} {
		_, elsewhere := planted(t)
		s, dir := planted(t)
		full := filepath.Join(dir, name)
		fstest.Must(t, os.RemoveAll(full))
		if err := os.Symlink(filepath.Join(elsewhere, name), full); err != nil {
			t.Skip(err)
		}
		fstest.Must(t, os.Remove(filepath.Join(dir, indexFile)))
		list, get := seen(t, s)
		if get == nil || len(list) == 3 {
			t.Errorf("%s: list %q, Get %v", name, list, get)
		}
	}
	s, dir := planted(t)
	moved := dir + "-moved"
	fstest.Must(t, os.Rename(dir, moved))
	fstest.Must(t, os.Symlink(moved, dir))
	if _, err := s.List(t.Context(), runs.Filter{}); err == nil {
		t.Error("the store itself is a link, and was followed")
	}
}

// Records of another version are left alone.
func TestPlanted_format(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"millrace runs 2\n", "millrace runs 1", "", "something else",
		strings.Repeat("x", 1<<20)} {
		s, dir := planted(t)
		fstest.Must(t, os.WriteFile(filepath.Join(dir, formatFile), []byte(text), 0o600))
		before := fstest.Listing(t, dir, func(fs.FileInfo) string { return "" })
		for what, err := range map[string]error{
			"open":   fstest.ErrOf(Open(s.d.FS, "store/runs", Options{Key: testKey})),
			"list":   fstest.ErrOf(s.List(t.Context(), runs.Filter{})),
			"get":    fstest.ErrOf(s.Get(t.Context(), runs.RunRef{ID: "1"})),
			"create": fstest.ErrOf(s.create(t.Context(), twoSteps())),
		} {
			if !errors.Is(err, runs.ErrFormat) {
				t.Errorf("%.20q: %s: %v", text, what, err)
			}
		}
		if after := fstest.Listing(t, dir, func(fs.FileInfo) string { return "" }); after != before {
			t.Errorf("%.20q: it was touched:\n%s", text, after)
		}
	}
	s, dir := planted(t)
	fstest.Must(t, os.Remove(filepath.Join(dir, formatFile)))
	if _, err := s.List(t.Context(), runs.Filter{}); !errors.Is(err, runs.ErrFormat) {
		t.Errorf("runs without a file format: %v", err)
	}
}

// A copy of a run is not the run: it can only be read.
func TestPlanted_copies(t *testing.T) {
	t.Parallel()
	s, dir := planted(t)
	shard := filepath.Join(dir, "000000")
	fstest.Must(t, os.CopyFS(filepath.Join(shard, "000000007"), os.DirFS(filepath.Join(shard, "000000001"))))
	list, _ := seen(t, s)
	if got := strings.Join(list, ", "); got != "1, 2, 3, 7 foreign" {
		t.Errorf("list %s", got)
	}
	if _, err := s.own(7); !errors.Is(err, runs.ErrForeign) {
		t.Errorf("own: %v", err)
	}
	copied := t.TempDir()
	fstest.Must(t, os.CopyFS(filepath.Join(copied, "store", "runs"), os.DirFS(dir)))
	other := openStore(t, openDir(t, copied), Options{NoSync: true})
	if list, _ = seen(t, other); strings.Join(list, ", ") != "1 foreign, 2 foreign, 3 foreign, 7 foreign" {
		t.Errorf("a copy of the store: %q", list)
	}
	other.moved = true
	if list, _ = seen(t, other); strings.Join(list, ", ") != "1, 2, 3, 7 foreign" {
		t.Errorf("a copy of the store that is accepted: %q", list)
	}
}

// At the first record of another run, or with another key, the trusted part ends.
func TestPlanted_records(t *testing.T) {
	t.Parallel()
	s, dir := planted(t)
	name := func(n int) string { return filepath.Join(dir, "000000", fmt.Sprintf("%09d", n), runFile) }
	read := func(n int) [][]byte {
		data, err := os.ReadFile(name(n))
		fstest.Must(t, err)
		return bytes.SplitAfter(data, []byte("\n"))
	}
	one, two := read(1), read(2)
	last := len(two) - 2
	for what, file := range map[string][][]byte{
		"an end of another run": append(append([][]byte{}, two[:3]...), one[last]),
		"one taken out":         append(append([][]byte{}, two[:3]...), two[4:]...),
	} {
		fstest.Must(t, os.WriteFile(name(2), bytes.Join(file, nil), 0o600))
		got, err := s.Get(t.Context(), runs.RunRef{ID: "2"})
		if err != nil || got.Status != runs.Failed || got.Reason != diedReason || got.Foreign {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	theirs := openStore(t, openDir(t, filepath.Dir(filepath.Dir(dir))),
		Options{Key: []byte("another key, which is long enough")})
	list, err := seen(t, theirs)
	if got := strings.Join(list, ", "); got != "1 foreign, 2 foreign, 3 foreign" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	fstest.Must(t, os.WriteFile(name(2), bytes.Join(one, nil), 0o600))
	if list, _ = seen(t, s); strings.Join(list, ", ") != "1, 2 foreign, 3" {
		t.Errorf("the records of another run: %q", list)
	}
}

// Files that are too large are read no further than their limit.
func TestPlanted_large(t *testing.T) {
	t.Parallel()
	s, dir := planted(t)
	for _, name := range []string{runFile, dataFile, logFile} {
		fstest.Must(t, os.Truncate(filepath.Join(dir, "000000", "000000002", name), 1<<30))
	}
	fstest.Must(t, os.Truncate(filepath.Join(dir, indexFile), 1<<40))
	list, err := seen(t, s)
	if got := strings.Join(list, " "); got != "1 2 3" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if log, err := s.Logs(t.Context(), runs.JobRef{ID: "2002"}, runs.LogRange{}); err != nil || log.TotalLines != 1 {
		t.Errorf("log %+v, %v", log, err)
	}
	w, err := s.own(2)
	fstest.Must(t, err)
	fstest.Must(t, w.close())
}

// Cut at every byte, the records of a run show an earlier state of it, and the next owner continues from there.
func TestCutRun(t *testing.T) {
	t.Parallel()
	s, dir := planted(t)
	name := filepath.Join(dir, "000000", "000000002", runFile)
	whole, err := os.ReadFile(name)
	fstest.Must(t, err)
	fstest.Must(t, os.Remove(filepath.Join(dir, indexFile)))
	first := bytes.IndexByte(whole, '\n') + 1
	for cut := len(whole); cut >= 0; cut -= 1 + cut%fstest.Runs(29, 1, 1) {
		fstest.Must(t, os.Truncate(name, int64(cut)))
		l, err := s.look(2)
		if cut < first {
			if !errors.Is(err, errNoRun) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if records := bytes.Count(whole[:cut], []byte("\n")); l.end.Count != records {
			t.Fatalf("cut at %d: %d records of %d", cut, l.end.Count, records)
		}
		w, err := s.own(2)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if cut < len(whole) {
			fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}))
		}
		fstest.Must(t, w.close())
		file, err := os.ReadFile(name)
		fstest.Must(t, err)
		r := recordlog.NewReader(file, testKey)
		for _, ok := r.Next(); ok; _, ok = r.Next() {
		}
		if r.Stop() != nil {
			t.Fatalf("cut at %d and gone on with: %v", cut, r.Stop())
		}
		fstest.Must(t, os.WriteFile(name, whole[:cut], 0o600))
	}
}
