package stage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// randomSplices returns up to three splices for content of n bytes.
func randomSplices(random *rand.Rand, n int) (list []change.Splice) {
	for at := 0; len(list) < 3; {
		at += random.IntN(max(n/2, 1) + 1)
		size := random.IntN(4)
		if at+size > n {
			return list
		}
		list = append(list, cut(int64(at), int64(size), string(fstest.RandomBytes(random, random.IntN(4)))))
		at += size + 1
	}
	return list
}

// viewBases returns file systems with one file "f" with the content.
func viewBases(t *testing.T, content []byte) map[string]afero.Fs {
	t.Helper()
	mem := afero.NewMemMapFs()
	root := fstest.OpenRoot(t, t.TempDir())
	bases := map[string]afero.Fs{"memory": mem, "directory": root, "like proc": lying(mem, 0)}
	if os.PathSeparator == '/' {
		bases["osfs"] = afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	}
	for _, base := range bases {
		fstest.Must(t, afero.WriteFile(base, "f", content, 0o644))
	}
	return bases
}

// viewed returns a copy of the bytes from View, and the number of calls of its callback.
func viewed(s *stage.Stage, name string, most int64) (data []byte, times int, err error) {
	err = view(s, name, most, func(b []byte) error {
		times++
		data = bytes.Clone(b)
		return nil
	})
	return data, times, err
}

// checkView compares the results of View, with and without room for the file, and of ReadFile with the wanted bytes.
func checkView(t *testing.T, what string, s *stage.Stage, want []byte) {
	t.Helper()
	n := int64(len(want))
	for _, most := range []int64{1 << 30, n, n - 1} {
		got, times, err := viewed(s, "f", most)
		if most < n {
			if times != 0 || !errors.Is(err, names.ErrTooLarge) {
				t.Errorf("%s: limit of %d for %d bytes: called %d times, %v", what, most, n, times, err)
			}
		} else if times != 1 || err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: limit %d: called %d times with %d bytes, equal %v, want %d; %v", what, most, times, len(got), bytes.Equal(got, want), n, err)
		}
	}
	if got, err := s.ReadFile("f"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: ReadFile gives %d bytes, want %d, %v", what, len(got), n, err)
	}
	if got, times, err := viewed(s, "f", n-1); times != 0 || !errors.Is(err, names.ErrTooLarge) {
		t.Errorf("%s: limit of %d after it was read: %d bytes, %v", what, n-1, len(got), err)
	}
}

var viewSizes = [...]int{0, 1, 100, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3 << 20}

// TestStage_View: it returns the same as ReadFile, for files in the base, edited files and written files.
func TestStage_View(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	count := 0
	for _, size := range viewSizes {
		content := fstest.RandomBytes(random, size)
		for kind, base := range viewBases(t, content) {
			for _, limits := range [][2]int64{{1 << 30, 8 << 20}, {1 << 30, 0}, {0, 0}} {
				if kind == "like proc" && size == 0 {
					continue
				}
				s := stage.New(base)
				stage.SetLimits(s, limits[0], limits[1])
				what := fmt.Sprintf("%s, %d bytes, limits %v", kind, size, limits)
				checkView(t, what+", base", s, content)
				list := []change.Splice{cut(0, 0, "new"), cut(int64(size), 0, "end")}
				fstest.Must(t, s.For("edit", false).Edit("f", list))
				checkView(t, what+", edited", s, []byte("new"+string(content)+"end"))
				fstest.Must(t, afero.WriteFile(s.For("write", false), "f", append(content, "more"...), 0o644))
				checkView(t, what+", written", s, append(content, "more"...))
				fstest.Must(t, s.Close())
				count++
			}
		}
	}
	t.Logf("%d files", count)
}

// TestStage_View_once: bytes that are not worth keeping are read again, others are not.
func TestStage_View_once(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, 1 << 20, 1<<20 + 1} {
		for _, once := range []bool{false, true} {
			base := fstest.Plant(t)
			fstest.Write(t, base, "f", strings.Repeat("x", size))
			spy := newSpy(t, base)
			s := stage.New(spy)
			fstest.Must(t, s.View("f", 1<<30, func(text *stage.Content) error {
				if once {
					text.Once()
				}
				data, err := text.Bytes(1 << 30)
				if len(data) != size {
					t.Errorf("%d bytes, want %d", len(data), size)
				}
				return err
			}))
			_, err := s.ReadFile("f")
			fstest.Must(t, errors.Join(err, s.Close()))
			if opens := spy.total(spy.opens); opens != 1 && !once || opens != 2 && once {
				t.Errorf("%d bytes, once %v: opened %d times", size, once, opens)
			}
		}
	}
}

// TestStage_View_onceDrift: if size and time are equal, bytes that are not worth keeping are compared with those read
// before, but later bytes are not compared with them.
func TestStage_View_onceDrift(t *testing.T) {
	t.Parallel()
	read := func(s *stage.Stage, once bool) error {
		return s.View("f", 1<<30, func(text *stage.Content) error {
			if once {
				text.Once()
			}
			_, err := text.Bytes(1 << 30)
			return err
		})
	}
	for _, tt := range []struct {
		first, second bool
		want          error
	}{{false, false, names.ErrDrift}, {false, true, names.ErrDrift}, {true, false, nil}, {true, true, nil}} {
		base := afero.NewMemMapFs()
		s := stage.New(base)
		stage.SetLimits(s, 1<<30, 0)
		for i, once := range []bool{tt.first, tt.second} {
			err := afero.WriteFile(base, "f", []byte(fmt.Sprint("content ", i)), 0o644)
			fstest.Must(t, errors.Join(err, base.Chtimes("f", time.Unix(1e9, 0), time.Unix(1e9, 0))))
			if err := read(s, once); i == 0 && err != nil || i == 1 && !errors.Is(err, tt.want) {
				t.Errorf("%+v: %v", tt, err)
			}
		}
	}
}

// TestStage_View_buffers: viewed bytes do not change while other files are viewed, by the same caller or by others.
func TestStage_View_buffers(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	random := rand.New(rand.NewPCG(3, 4))
	contents := make(map[string][]byte)
	for i := range 8 {
		name := fmt.Sprint("f", i)
		contents[name] = fstest.RandomBytes(random, 1000*i+1)
		fstest.Must(t, afero.WriteFile(base, name, contents[name], 0o644))
	}
	s := stage.New(base)
	stage.SetLimits(s, 1<<20, 0) // nothing is kept
	fstest.Must(t, s.Edit("f3", []change.Splice{cut(0, 0, "x")}))
	contents["f3"] = append([]byte("x"), contents["f3"]...)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range fstest.Runs(30, 100, 2000) {
				for outer, want := range contents {
					inner := "f" + string(outer[1]^1)
					err := view(s, outer, 1<<20, func(a []byte) error {
						return view(s, inner, 1<<20, func(b []byte) error {
							if !bytes.Equal(a, want) || !bytes.Equal(b, contents[inner]) {
								t.Errorf("%s and %s have changed", outer, inner)
							}
							return nil
						})
					})
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wait.Wait()
}

// TestStage_viewErrors: a file that cannot be read is an error that names the file, and no callback is called; an error
// of the callback is returned unchanged.
func TestStage_viewErrors(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Must(t, root.MkdirAll("d/.git", 0o755))
	for _, name := range []string{"f", "secret", "d/.git/config"} {
		fstest.Write(t, root, name, "some bytes")
	}
	own := errors.New("mine")
	for _, tt := range []struct {
		name string
		most int64
		want error
	}{
		{"none", 99, fs.ErrNotExist}, {"d", 99, names.ErrIsDir}, {"../f", 99, names.ErrEscape}, {"secret", 99, names.ErrNotAllowed},
		{"f", 9, names.ErrTooLarge}, {"f/below", 99, names.ErrNotDir},
	} {
		s := stage.New(root)
		s.SetGuard(guard.Policy{Allowed: []string{"f", "d", "none"}})
		called := false
		view := view(s, tt.name, tt.most, func([]byte) error { called = true; return nil })
		edit := editBytes(s, tt.name, tt.most, func([]byte) ([]change.Splice, error) { called = true; return nil, nil })
		_, read := readMax(s, tt.name, tt.most)
		for _, err := range []error{view, edit, read} {
			if _, ok := errors.AsType[*fs.PathError](err); !ok || !errors.Is(err, tt.want) || err.Error() != read.Error() ||
				called {
				t.Errorf("%s: %v, want %v; called %v", tt.name, err, tt.want, called)
			}
		}
	}
	s := stage.New(root)
	if err := view(s, "f", 99, func([]byte) error { return own }); err != own { //nolint:errorlint // the very error
		t.Error("View:", err)
	}
	err := editBytes(s, "f", 99, func([]byte) ([]change.Splice, error) { return []change.Splice{cut(0, 1, "x")}, own })
	if err != own || len(changesOf(t, s)) > 0 { //nolint:errorlint // the very error
		t.Error("EditBytes:", err, changesOf(t, s))
	}
	bad := func(list ...change.Splice) func([]byte) ([]change.Splice, error) {
		return func([]byte) ([]change.Splice, error) { return list, nil }
	}
	first := []change.Splice{cut(0, 1, "x")}
	for what, tt := range map[string]struct {
		s    *stage.Stage
		name string
		list []change.Splice
	}{
		"beyond the end": {s, "f", []change.Splice{cut(9, 2, "")}},
		"overlapping":    {s, "f", []change.Splice{cut(0, 2, ""), cut(1, 2, "")}},
		"protected":      {s, "d/.git/config", first},
		"read only":      {s.For("looks", true), "f", first},
	} {
		err, want := editBytes(tt.s, tt.name, 99, bad(tt.list...)), tt.s.Edit(tt.name, tt.list)
		if err == nil || want == nil || err.Error() != want.Error() || len(changesOf(t, s)) > 0 {
			t.Errorf("%s: %v, Edit returns %v", what, err, want)
		}
	}
}

// TestStage_viewDrift: bytes that differ from those read before, or are more or fewer, are not passed to callers.
func TestStage_viewDrift(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(s *stage.Stage) (int, error){
		"view": func(s *stage.Stage) (int, error) { _, times, err := viewed(s, "f", 99); return times, err },
		"edit": func(s *stage.Stage) (times int, err error) {
			err = editBytes(s, "f", 99, func([]byte) ([]change.Splice, error) { times++; return nil, nil })
			return times, err
		},
	} {
		for _, edited := range []bool{false, true} {
			for edit, text := range map[string]string{"other bytes": "9876543210", "more": "01234567890", "fewer": "012345678"} {
				mem := afero.NewMemMapFs()
				fstest.Must(t, afero.WriteFile(mem, "f", []byte("0123456789"), 0o644))
				info, err := mem.Stat("f")
				fstest.Must(t, err)
				at := info.ModTime() // the FileInfo of a MemMapFs changes with the file
				s := stage.New(mem)
				stage.SetLimits(s, 1<<20, 0)
				_, err = s.ReadFile("f")
				fstest.Must(t, err)
				if edited {
					fstest.Must(t, s.Edit("f", []change.Splice{cut(0, 1, "x")}))
				}
				fstest.Must(t, afero.WriteFile(mem, "f", []byte(text), 0o644))
				fstest.Must(t, mem.Chtimes("f", at, at))
				if times, err := do(s); times > 0 || !errors.Is(err, names.ErrDrift) {
					t.Errorf("%s, edited %v, %s: called %d times, %v", name, edited, edit, times, err)
				}
			}
		}
		for _, size := range []int64{9, 11} {
			mem := afero.NewMemMapFs()
			fstest.Must(t, afero.WriteFile(mem, "f", []byte("0123456789"), 0o644))
			if times, err := do(stage.New(lying(mem, size))); times > 0 || !errors.Is(err, names.ErrDrift) {
				t.Errorf("%s, ten bytes with the reported size %d: called %d times, %v", name, size, times, err)
			}
		}
		removed := afero.NewMemMapFs()
		fstest.Must(t, afero.WriteFile(removed, "f", []byte("0123456789"), 0o644))
		s := stage.New(removed)
		fstest.Must(t, s.Chmod("f", 0o600))
		fstest.Must(t, removed.Remove("f"))
		if times, err := do(s); times > 0 || !errors.Is(err, names.ErrDrift) {
			t.Errorf("%s, removed: called %d times, %v", name, times, err)
		}
	}
}

// TestStage_viewFaults: if any call of the base fails, the error is returned, no callback is called, and no file stays
// open.
func TestStage_viewFaults(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, edited := range []bool{false, true} {
		for at, hit := 1, "any"; hit != ""; at++ {
			base := faultyBase(t)
			s := stage.New(base)
			stage.SetLimits(s, 1<<20, 0)
			if edited {
				fstest.Must(t, s.Edit("f", []change.Splice{cut(0, 3, "1")}))
			}
			base.arm(at)
			_, times, err := viewed(s, "f", 99)
			var open int
			hit, open = base.state()
			seen[hit] = true
			if (hit != "") != errors.Is(err, fstest.ErrDisk) || (hit == "") != (times == 1) || open != 0 {
				t.Errorf("%q failed: called %d times, %v, %d files open", hit, times, err, open)
			}
		}
	}
	for _, want := range []string{"open f", "fstat f", "read f"} {
		if !seen[want] {
			t.Errorf("%q never failed: %v", want, seen)
		}
	}
}
