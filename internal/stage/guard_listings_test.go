package stage_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

func TestGuardListings(t *testing.T) {
	t.Parallel()
	base := fstest.Plant(t, ".millrace/lock", "a/b/c/x", "a/b/y", "a/z", "top", "src/main.go", "src/other.go")
	list := func(s *stage.Stage, dir string) []string {
		f, err := s.Open(dir)
		if err != nil {
			return []string{err.Error()}
		}
		defer f.Close()
		names, err := f.Readdirnames(-1)
		if err != nil {
			t.Error(err)
		}
		handle, err := s.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer handle.Close()
		entries, err := handle.ReadDir()
		if err != nil {
			t.Error(err)
		}
		if len(entries) != len(names) {
			t.Errorf("%s: Open lists %q, OpenDir %v", dir, names, entries)
		}
		return names
	}
	s := stage.New(base)
	s.SetGuard(guard.Policy{Reserved: ".millrace", Allowed: []string{"a/b", "src/main.go"}})
	for dir, want := range map[string][]string{
		".": {"a", "src"}, "a": {"b"}, "a/b": {"c", "y"}, "a/b/c": {"x"}, "src": {"main.go"},
	} {
		if diff := cmp.Diff(want, list(s, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", dir, diff)
		}
	}
	handle, err := s.OpenDir("src")
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	if _, err := handle.OpenFile("other.go"); !errors.Is(err, names.ErrNotAllowed) {
		t.Errorf("error = %v, want ErrNotAllowed", err)
	}
	if _, err := handle.OpenFile("../top"); !errors.Is(err, names.ErrEscape) {
		t.Errorf("error = %v, want ErrEscape", err)
	}
	if err := s.Remove("a"); !errors.Is(err, names.ErrNotAllowed) {
		t.Errorf("error = %v, want ErrNotAllowed", err)
	}
	all := stage.New(base)
	all.SetGuard(guard.Policy{Reserved: ".millrace"})
	if diff := cmp.Diff([]string{"a", "src", "top"}, list(all, ".")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGuardHidesWhatIsReservedOrDenied(t *testing.T) {
	t.Parallel()
	base := fstest.Plant(t, ".millrace/x", "sub/.millrace/x", "sub/.MillRace/y", "sub/deep/state/z", "deep/state/z",
		"deep/other", "sub/a",
		"home/millrace/key", "home/a", "sub/.env", "frozen/b")
	policy := guard.Policy{Reserved: "deep/state", Closed: []string{"home/millrace"}, Denied: []string{".env"},
		ReadOnly: []string{"frozen"}}
	want := []string{"deep/other", "frozen/b", "home/a", "sub/a"}
	for name, fsys := range map[string]afero.Fs{"base": base, "staged": base} {
		s := stage.New(fsys)
		s.SetGuard(policy)
		if name == "staged" { // so that listings are put together again
			for _, dir := range []string{"sub/new", "deep/new", "home/new", "new"} {
				fstest.Must(t, s.Mkdir(dir, 0o755))
			}
		}
		var got []string
		err := walk.Walk(t.Context(), s, ".", walk.Options{NoIgnore: true, Workers: 1}, func(e walk.Entry) error {
			got = append(got, e.Path())
			return nil
		})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		f, err := s.Open("sub")
		fstest.Must(t, err)
		names, err := f.Readdirnames(-1)
		if err != nil || slices.Contains(names, ".millrace") || slices.Contains(names, ".env") {
			t.Errorf("%s: sub lists %q, %v", name, names, err)
		}
	}
}
