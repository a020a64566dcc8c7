package walk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/walk"
)

// A directory of many files is shared by workers: the first visit waits until another runs in parallel.
func TestWalkSharesDirectory(t *testing.T) {
	t.Parallel()
	fsys := &walkOpenerFs{Fs: afero.NewMemMapFs()}
	wideTree().write(t, fsys)
	var once sync.Once
	var inside atomic.Int64
	both := make(chan struct{})
	err := walk.Walk(t.Context(), fsys, "wide", walk.Options{Workers: 2}, func(e walk.Entry) error {
		if strings.Count(e.Path(), "/") > 1 {
			return nil
		}
		if inside.Add(1) == 2 {
			once.Do(func() { close(both) })
		}
		defer inside.Add(-1)
		select {
		case <-both:
			return nil
		case <-time.After(20 * time.Second):
			return errors.New("the other worker does not help")
		}
	})
	if err != nil {
		t.Error(err)
	}
	fsys.check(t)
}

// The depth of a tree costs neither stack nor open directories.
func TestWalkDeep(t *testing.T) {
	t.Parallel()
	const depth = 3000
	fsys := &walkOpenerFs{Fs: afero.NewMemMapFs()}
	tree := walkTree{}
	for i := 1; i <= depth; i += 100 {
		tree[strings.Repeat("d/", i)+"f"] = ""
	}
	tree[strings.Repeat("d/", depth)+"last"] = ""
	tree.write(t, fsys)
	const workers = 3
	got := walkAll(t, fsys, ".", walk.Options{Workers: workers})
	if len(got) != len(tree) {
		t.Errorf("%d files, want %d", len(got), len(tree))
	}
	if most := fsys.most.Load(); most > 2*workers {
		t.Errorf("%d directories open at once", most)
	}
	fsys.check(t)
}

// Large nested directories: if they were entered before the files above are done, all would be open at once.
func TestWalkOpenDirectories(t *testing.T) {
	t.Parallel()
	tree := walkTree{}
	for depth := range 12 {
		for i := range 600 {
			tree[strings.Repeat("d/", depth)+fmt.Sprintf("f%d", i)] = "x"
		}
	}
	mem := afero.NewMemMapFs()
	tree.write(t, mem)
	for _, workers := range []int{1, 3} {
		fsys := &walkOpenerFs{Fs: mem}
		var visits atomic.Int64
		err := walk.Walk(t.Context(), fsys, ".", walk.Options{Workers: workers}, func(e walk.Entry) error {
			visits.Add(1)
			f, err := e.Open()
			if err != nil {
				return err
			}
			return f.Close()
		})
		if n := visits.Load(); err != nil || n != int64(len(tree)) {
			t.Errorf("%d of %d files, %v", n, len(tree), err)
		}
		if most := fsys.most.Load(); most > int64(2*workers) {
			t.Errorf("%d directories open at once by %d workers", most, workers)
		}
		fsys.check(t)
	}
}

// A directory of very many files: each is visited once, and the listing is not changed.
func TestWalkHugeDirectory(t *testing.T) {
	t.Parallel()
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	fsys := walkListingFs{afero.NewMemMapFs(), make([]fs.DirEntry, n)}
	for i := range fsys.entries {
		fsys.entries[i] = walkItem(fmt.Sprintf("f%06d", i))
	}
	seen := make([]atomic.Int32, n)
	err := walk.Walk(t.Context(), fsys, ".", walk.Options{Workers: 4}, func(e walk.Entry) error {
		var i int
		if _, err := fmt.Sscanf(e.Path(), "f%d", &i); err != nil {
			return err
		}
		seen[i].Add(1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range seen {
		if k := seen[i].Load(); k != 1 {
			t.Fatalf("file %d was visited %d times", i, k)
		}
		if fsys.entries[i] != walkItem(fmt.Sprintf("f%06d", i)) {
			t.Fatalf("the listing, which may be shared, was changed at %d", i)
		}
	}
}

// walkListingFs lists any given names at its top.
type walkListingFs struct {
	afero.Fs
	entries []fs.DirEntry
}

func (f walkListingFs) OpenDir(name string) (capability.DirHandle, error) {
	h, err := handle.OpenDir(f.Fs, name)
	return walkListing{h, f.entries}, err
}

type walkListing struct {
	capability.DirHandle
	entries []fs.DirEntry
}

func (l walkListing) ReadDir() ([]fs.DirEntry, error) { return l.entries, nil }

// walkItem is the entry of a regular file with that name.
type walkItem string

func (i walkItem) Name() string               { return string(i) }
func (i walkItem) IsDir() bool                { return false }
func (i walkItem) Type() fs.FileMode          { return 0 }
func (i walkItem) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// A file system that lists an invalid name cannot lead the walk out of its directory.
func TestWalkListedNames(t *testing.T) {
	t.Parallel()
	fsys := walkListingFs{Fs: afero.NewMemMapFs()}
	for _, name := range []string{"../x", "a/b", "/etc", "", ".", "..", "ok", "...", "x\ny", "\xff", "-rf", `a\b`} {
		fsys.entries = append(fsys.entries, walkItem(name))
	}
	want := []string{"-rf", "...", `a\b`, "ok", "x\ny", "\xff"}
	if diff := cmp.Diff(want, walkAll(t, fsys, ".", walk.Options{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	dir, err := handle.OpenDir(afero.NewMemMapFs(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../x", "a/b", "/etc", "", ".", ".."} {
		if _, err := dir.OpenFile(name); !errors.Is(err, names.ErrEscape) {
			t.Errorf("OpenFile(%q): %v", name, err)
		}
	}
}

func TestWalkOddIgnoreFiles(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	walkTree{"d/.gitignore/x": "*", "d/a": "", "e/a": "", "f/.gitignore": "\x00\x01\xff[[\\", "f/a": ""}.write(t, fsys)
	want := []string{"d/.gitignore/x", "d/a", "e/a", "f/.gitignore", "f/a"}
	if diff := cmp.Diff(want, walkAll(t, fsys, ".", walk.Options{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// The same for a directory above the root. An unreadable directory does not stop the walk of the others.
	if diff := cmp.Diff([]string{"d/.gitignore/x"}, walkAll(t, fsys, "d/.gitignore", walk.Options{})); diff != "" {
		t.Errorf("below (-want +got)\n%s", diff)
	}
	for fault, want := range map[error]error{names.ErrNotAllowed: nil, fs.ErrNotExist: nil, fs.ErrPermission: fs.ErrPermission} {
		guarded := walkFaults(fsys, map[string]error{"f/.gitignore": fault})
		walkTree{"f/g/h": ""}.write(t, guarded)
		if _, err := walkPaths(t.Context(), guarded, "f/g", walk.Options{}); !errors.Is(err, want) {
			t.Errorf("%v above: got %v", fault, err)
		}
	}
	huge := bytes.Repeat([]byte("#234567\n"), 2<<20+1)
	if err := afero.WriteFile(fsys, "e/.gitignore", huge, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := walkPaths(t.Context(), fsys, ".", walk.Options{})
	const tooLarge = "/.gitignore: file of ignore rules is larger than 1 MiB, with those of the directories above it"
	if err == nil || err.Error() != "read e"+tooLarge {
		t.Errorf("got %v", err)
	}

	// The size of a chain of files is their sum. Rules beyond the limit are ignored, the same ones in every walk.
	deep := afero.NewMemMapFs()
	rules := append(bytes.Repeat([]byte("x1234567\n"), 45_000), "y\n"...)
	for _, name := range []string{"a", "a/b", "a/b/c", "a/b/c/d", "z"} {
		walkTree{name + "/y": ""}.write(t, deep)
		if err := afero.WriteFile(deep, name+"/.gitignore", rules, 0o644); err != nil {
			t.Fatal(err)
		}
		if name == "a/b/c" {
			rules = []byte("y\n")
		}
	}
	for range 3 {
		var mu sync.Mutex
		var told []string
		got := walkAll(t, deep, ".", walk.Options{OnError: func(path string, err error) error {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err.Error())
			return nil
		}})
		if slices.Contains(got, "a/y") || slices.Contains(got, "a/b/c/d/y") || slices.Contains(got, "z/y") || !slices.Equal(told, []string{"read a/b/c" + tooLarge}) {
			t.Errorf("got %v, reported %v", got, told)
		}
	}
}
