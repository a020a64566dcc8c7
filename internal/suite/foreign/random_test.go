package foreign_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/millracetest"
)

// writer is the other program: it writes unique texts, each to a random file.
type writer struct {
	dir    string
	random *rand.Rand
	texts  map[string]string // by path, the last text
	log    []string
}

func (w *writer) name() string {
	parts := []string{fmt.Sprint("d", w.random.IntN(3)), fmt.Sprint("s", w.random.IntN(2)), fmt.Sprint("f", w.random.IntN(4))}
	return strings.Join(parts[w.random.IntN(3):], "/")
}

// write writes one file, in place or by a rename, if a file of that name is possible.
func (w *writer) write() {
	name := w.name()
	at := filepath.Join(w.dir, name)
	text := fmt.Sprintf("theirs %d of %s\n", len(w.log), name)
	if os.MkdirAll(filepath.Dir(at), 0o755) != nil {
		return
	}
	var err error
	if w.random.IntN(2) == 0 {
		err = os.WriteFile(at, []byte(text), 0o644)
	} else if err = os.WriteFile(at+"~", []byte(text), 0o644); err == nil {
		if err = os.Rename(at+"~", at); err != nil {
			os.Remove(at + "~")
		}
	}
	if err == nil {
		w.texts[name] = text
		w.log = append(w.log, "they write "+name)
	}
}

// work does one random thing on the stage. Work that only adds to files is done at any time. Work that removes the text
// of a file is done only before the other program has begun: later the step may have seen that program's text.
func (w *writer) work(s afero.Fs) {
	a, b := w.name(), w.name()
	what, err := "", error(nil)
	kind := w.random.IntN(7)
	if len(w.texts) > 0 {
		kind %= 3
	}
	switch kind {
	case 0:
		what = "rename " + a + " " + b
		if _, taken := s.Stat(b); taken == nil {
			return
		}
		err = s.Rename(a, b)
	case 1:
		what = "make " + a
		var f afero.File
		if f, err = s.OpenFile(a, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
			fmt.Fprintf(f, "ours\n")
			err = f.Close()
		}
	case 2:
		what = "append to " + a
		var f afero.File
		if f, err = s.OpenFile(a, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			fmt.Fprintf(f, "more\n")
			err = f.Close()
		}
	case 3:
		what, err = "remove "+a, s.RemoveAll(a)
	case 4:
		a = strings.Split(a, "/")[0]
		what, err = "remove "+a, s.RemoveAll(a)
	case 5:
		what, err = "rename over "+a+" "+b, s.Rename(a, b)
	case 6:
		what, err = "make directories "+a, s.MkdirAll(a, 0o755)
	}
	if err == nil {
		w.log = append(w.log, what)
	}
}

// TestForeign_random lets another program write while a run works. No text of that program is lost, whatever the run
// has done and however it has ended.
func TestForeign_random(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	committed, conflicts := 0, 0
	for i := range fstest.Runs(150, 2000, 50_000) {
		dir := t.TempDir()
		w := &writer{dir: dir, random: rand.New(rand.NewPCG(seed, uint64(i))), texts: make(map[string]string)}
		for range 6 {
			w.write()
		}
		clear(w.texts)
		w.log = append(w.log, "the run begins")
		root := suite.OpenRoot(t, dir)
		plan, err := millrace.Executor{State: millrace.State{NoSync: true}}.Plan(t.Context(), root, suite.One(staged(func(s afero.Fs) error {
			for range 2 + w.random.IntN(4) {
				w.work(s)
			}
			for range w.random.IntN(3) {
				w.write()
				w.work(s)
			}
			return nil
		})))
		if err == nil {
			for range w.random.IntN(3) {
				w.write()
			}
			_, err = plan.WithForce(true).Commit(t.Context())
			plan.Close()
		}
		switch {
		case err == nil:
			committed++
		case suite.Is[*millrace.ConflictError](err):
			conflicts++
		case suite.Is[*millrace.StepError](err), suite.Is[*millrace.CommitError](err):
		default:
			t.Fatalf("run %d: %v\n%s", i, err, strings.Join(w.log, "\n"))
		}
		all := millracetest.Text(t, afero.NewBasePathFs(afero.NewOsFs(), dir))
		for name, text := range w.texts {
			if !strings.Contains(all, text) {
				t.Fatalf("run %d: the other program's text in %s is lost; the run returns %v\n%s", i, name, err,
					strings.Join(w.log, "\n"))
			}
		}
		root.Close()
	}
	if committed == 0 || conflicts == 0 {
		t.Errorf("%d runs were committed, %d were conflicts", committed, conflicts)
	}
	fstest.Countf(t, "%d committed, %d conflicts", committed, conflicts)
}
