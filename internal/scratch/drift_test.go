//go:build unix

package scratch_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// restless is a file system in which a file grows after each of the next opens, up to a number of times.
type restless struct {
	afero.Fs
	left int
}

func (r *restless) Open(name string) (afero.File, error) {
	f, err := r.Fs.Open(name)
	if err == nil && name == "a" && r.left > 0 {
		r.left--
		data, _ := afero.ReadFile(r.Fs, name)
		time.Sleep(2 * time.Millisecond)
		err = afero.WriteFile(r.Fs, name, append(data, 'x'), 0o644)
	}
	return f, err
}

// A file that another program writes to during Renew is read again, and is an error if that does not help.
func TestTree_Renew_drift(t *testing.T) {
	t.Parallel()
	for left, fails := range map[int]bool{0: false, 1: false, 50: true} {
		base := &restless{afero.NewMemMapFs(), left}
		if err := afero.WriteFile(base.Fs, "a", []byte("a"), 0o644); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, base, nil)
		err := r.tree.Renew(t.Context(), r.view, scratch.Options{})
		if (err != nil) != fails || fails && !errors.Is(err, names.ErrDrift) {
			t.Errorf("a file that changes %d times: %v", left, err)
		}
		if err == nil {
			r.exact()
		}
	}
}

// Names that the scratch tree cannot distinguish are an error before anything is written.
func TestTree_folding(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{"a/Read": "1", "a/read": "2", "A/x": "3"}), nil)
	scratch.Fold(r.tree)
	err := r.tree.Renew(t.Context(), r.view, scratch.Options{})
	if err == nil || !strings.Contains(err.Error(), `"A" and "a" would be one file`) {
		t.Errorf("Renew: %v", err)
	}
	if list := paths(t, r.tree.Root()); len(list) > 0 {
		t.Errorf("written: %q", list)
	}
	o := scratch.Options{Make: func(name string) bool { return name == "a/Read" }}
	if err := r.tree.Renew(t.Context(), r.view, o); err != nil {
		t.Errorf("with only one of them: %v", err)
	}
}

// A broken or closed stage, and a closed tree, return errors.
func TestTree_closed(t *testing.T) {
	t.Parallel()
	tree, err := scratch.Open(t.Context(), scratch.Config{Dir: t.TempDir(), Tree: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Collect(t.Context(), scratch.Options{}); err == nil {
		t.Error("Collect without Renew")
	}
	if err := tree.Renew(t.Context(), stage.New(nil), scratch.Options{}); !errors.Is(err, names.ErrNoFs) {
		t.Errorf("Renew without a base: %v", err)
	}
	if err := tree.Close(); err != nil {
		t.Fatal(err)
	}
	if err := tree.Renew(t.Context(), stage.New(afero.NewMemMapFs()), scratch.Options{}); err == nil ||
		errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Renew of a closed tree: %v", err)
	}
}

// Large files are copied by the system if possible, with the same bytes.
func TestTree_Renew_large(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789abcdef", 3<<16+1)
	memory := afero.NewMemMapFs()
	if err := afero.WriteFile(memory, "large", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, base := range []afero.Fs{dirOf(t, map[string]string{"large": text}), memory} {
		r := newRig(t, base, nil)
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		r.exact()
		r.script("printf x >> large")
		changes, err := r.tree.Collect(t.Context(), scratch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scratch.Stage(t.Context(), r.view, changes); err != nil {
			t.Fatal(err)
		}
		if data, err := r.view.ReadFile("large"); err != nil || string(data) != text+"x" {
			t.Errorf("%d bytes, %v, want %d", len(data), err, len(text)+1)
		}
	}
}

// Links of the tree become directories that contain names of the links' targets. The targets do not change.
func TestStage_linksBecomeDirectories(t *testing.T) {
	t.Parallel()
	base := dirOf(t, map[string]string{"d/a": "a", "d/e/b": "b", "x": "x"})
	for name, target := range map[string]string{"l": "d", "loop": "loop", "m": "d/e"} {
		if err := base.SymlinkIfPossible(target, name); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, base, nil)
	_, err := r.run("for l in l loop m; do rm $l; mkdir $l; done; mkdir l/a loop/a; echo n > l/a/n; echo n > loop/a/n; mv x m/b; mv d/e l/e; ln -s l k", scratch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"d/": "-rwxr-xr-x", "d/a": "-rw-r--r-- a", "k": "-> l", "l/": "-rwxr-xr-x", "l/a/": "-rwxr-xr-x", "l/a/n": "-rw-r--r-- n\n",
		"l/e/": "-rwxr-xr-x", "l/e/b": "-rw-r--r-- b", "loop/": "-rwxr-xr-x", "loop/a/": "-rwxr-xr-x", "loop/a/n": "-rw-r--r-- n\n",
		"m/": "-rwxr-xr-x", "m/b": "-rw-r--r-- x",
	}
	if d := cmp.Diff(want, visible(t, r.view, true)); d != "" {
		t.Error(d)
	}
}
