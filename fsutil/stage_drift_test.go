package fsutil_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// lyingFs has files that say they are size bytes long, whatever they have.
type lyingFs struct {
	afero.Fs
	size int64
}

type lyingFile struct {
	afero.File
	size int64
}

type lyingInfo struct {
	os.FileInfo
	size int64
}

func (i lyingInfo) Size() int64 { return i.size }

func (f *lyingFs) info(info os.FileInfo, err error) (os.FileInfo, error) {
	if err != nil || !info.Mode().IsRegular() {
		return info, err
	}
	return lyingInfo{info, f.size}, nil
}

func (f *lyingFs) Stat(name string) (os.FileInfo, error) { return f.info(f.Fs.Stat(name)) }

func (f *lyingFs) Open(name string) (afero.File, error) {
	file, err := f.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return lyingFile{file, f.size}, nil
}

func (f lyingFile) Stat() (os.FileInfo, error) {
	fsys := lyingFs{size: f.size}
	return fsys.info(f.File.Stat())
}

// A file that has more or fewer bytes than it said was changed while it was read: no operation takes what it got for it.
func TestStage_sizeDrift(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{9, 11} {
		open := func() *fsutil.Stage {
			mem := afero.NewMemMapFs()
			must(t, afero.WriteFile(mem, "f", []byte("0123456789"), 0o644))
			s := fsutil.NewStage(&lyingFs{mem, size})
			fsutil.SetLimits(s, 1<<20, 0)
			return s
		}
		s := open()
		_, readErr := s.ReadFile("f")
		editErr := s.Edit("f", []fsutil.Splice{cut(0, 1, "x")})
		must(t, s.Chmod("f", 0o600))
		_, changesErr := s.Changes()
		errs := map[string]error{"read": readErr, "edit": editErr, "changes": changesErr}
		if size > 10 { // a stream, and a copy of one, have no reason to read on when they have what there should be
			f, err := open().Open("f")
			must(t, err)
			_, errs["stream"] = io.ReadAll(f)
			must(t, f.Close())
			f, err = open().OpenFile("f", os.O_RDWR, 0)
			must(t, err)
			_, errs["write"] = f.WriteAt([]byte("x"), 2)
			must(t, f.Close())
		}
		for op, err := range errs {
			if !errors.Is(err, fsutil.ErrDrift) {
				t.Errorf("10 bytes, said to be %d: %s: %v", size, op, err)
			}
		}
	}
}

// A file of /proc says that it is empty. The limit counts what comes.
func TestStage_limitOfReading(t *testing.T) {
	t.Parallel()
	mem := afero.NewMemMapFs()
	must(t, afero.WriteFile(mem, "f", []byte("0123456789"), 0o644))
	for _, size := range []int64{10, 0} {
		for _, max := range []int64{9, 10, 0} {
			s := fsutil.NewStage(&lyingFs{mem, size})
			s.SetMaxRead(max)
			data, readErr := s.ReadFile("f")
			must(t, s.Chmod("f", 0o600))
			_, changesErr := s.Changes()
			if max == 9 {
				if !errors.Is(readErr, fsutil.ErrTooLarge) || data != nil {
					t.Errorf("said to have %d: read %q, %v", size, data, readErr)
				}
				if size == 0 != errors.Is(changesErr, fsutil.ErrTooLarge) {
					t.Errorf("said to have %d: changes: %v", size, changesErr)
				}
				if err := s.Edit("f", []fsutil.Splice{cut(0, 1, "x")}); !errors.Is(err, fsutil.ErrTooLarge) {
					t.Errorf("said to have %d: edit: %v", size, err)
				}
				continue
			}
			if readErr != nil || changesErr != nil || string(data) != "0123456789" {
				t.Errorf("said to have %d, limit %d: read %q, %v, changes %v", size, max, data, readErr, changesErr)
			}
			// It is in the cache by now, and more than this asks for.
			if _, err := s.ReadFileMax("f", 5); !errors.Is(err, fsutil.ErrTooLarge) {
				t.Errorf("said to have %d: read at most 5: %v", size, err)
			}
		}
	}
	s := fsutil.NewStage(mem)
	must(t, afero.WriteFile(s, "g", nil, 0o644))
	f, err := s.OpenFile("g", os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	if _, err := f.WriteAt([]byte("xx"), 1<<40-1); !errors.Is(err, fsutil.ErrTooLarge) {
		t.Errorf("a write beyond a TiB: %v", err)
	}
	if err := f.Truncate(1<<40 + 1); !errors.Is(err, fsutil.ErrTooLarge) {
		t.Errorf("truncation to more than a TiB: %v", err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the file has become %d bytes long, %v", info.Size(), err)
	}
}

// What was listed and is gone when it is looked at has drifted: the change cannot be what was asked for.
func TestStage_entryGone(t *testing.T) {
	t.Parallel()
	root := openRoot(t, t.TempDir())
	must(t, root.Mkdir("d", 0o755))
	write(t, root, "d/f", "x")
	s := fsutil.NewStage(goneFs{root, "f"})
	must(t, s.Rename("d", "e"))
	if _, err := s.Changes(); !errors.Is(err, fsutil.ErrDrift) || !strings.Contains(err.Error(), "d/f") {
		t.Errorf("Changes: %v, want ErrDrift about d/f", err)
	}
	if _, err := afero.ReadDir(s, "e"); !errors.Is(err, fsutil.ErrDrift) {
		t.Errorf("Readdir: %v, want ErrDrift", err)
	}
	s = fsutil.NewStage(goneFs{root, "f"})
	must(t, s.RemoveAll("d"))
	if _, err := s.Changes(); !errors.Is(err, fsutil.ErrDrift) {
		t.Errorf("Changes: %v, want ErrDrift", err)
	}
}

// goneFs lists an entry that nobody finds.
type goneFs struct {
	*fsutil.RootFs
	name string
}

func (g goneFs) OpenDir(name string) (fsutil.DirHandle, error) {
	d, err := g.RootFs.OpenDir(name)
	return goneDir{d, g.name}, err
}

type goneDir struct {
	fsutil.DirHandle
	name string
}

func (d goneDir) ReadDir() ([]fs.DirEntry, error) {
	list, err := d.DirHandle.ReadDir()
	for i, e := range list {
		if e.Name() == d.name {
			list[i] = goneEntry{e}
		}
	}
	return list, err
}

type goneEntry struct{ fs.DirEntry }

func (goneEntry) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// A file that was removed while it was open can be written to, as on every POSIX system, and is no change any more.
func TestStage_writeToRemoved(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove open files")
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644))
	s := fsutil.NewStage(openRoot(t, dir))
	start := s.Savepoint()
	f, err := s.OpenFile("f", os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	must(t, s.Remove("f"))
	middle := s.Savepoint()
	_, err = f.WriteAt([]byte("NEW!"), 0)
	must(t, err)
	got := make([]byte, 4)
	if n, err := f.ReadAt(got, 0); err != nil || string(got[:n]) != "NEW!" {
		t.Errorf("read %q, %v", got, err)
	}
	if got := s.ChangedSince(middle); len(got) != 0 {
		t.Errorf("changed since it was removed: %q", got)
	}
	if got := s.ChangedSince(start); !slices.Equal(got, []string{"f"}) {
		t.Errorf("changed: %q", got)
	}
	if c := changesOf(t, s); len(c) != 1 || c[0].Kind != fsutil.Deleted || c[0].Old.Hash != fsutil.HashOf([]byte("old")) {
		t.Errorf("changes: %+v", c)
	}
	s.Rollback(start)
	if got := read(t, s, "f"); got != "old" {
		t.Errorf("after the rollback it is %q", got)
	}
}

// What was put where something of the base was removed is changed if it is not the same, and only then.
func TestStage_ChangedSince_replaced(t *testing.T) {
	t.Parallel()
	root := openRoot(t, t.TempDir())
	write(t, root, "same", "x")
	write(t, root, "other", "x")
	write(t, root, "longer", "x")
	for _, name := range []string{"same link", "other link"} {
		if err := root.SymlinkIfPossible("same", name); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	s := fsutil.NewStage(root)
	start := s.Savepoint()
	for _, name := range []string{"same", "other", "longer", "same link", "other link"} {
		must(t, s.Remove(name))
	}
	must(t, afero.WriteFile(s, "same", []byte("x"), 0o644))
	must(t, afero.WriteFile(s, "other", []byte("y"), 0o644))
	must(t, afero.WriteFile(s, "longer", []byte("xx"), 0o644))
	must(t, s.SymlinkIfPossible("same", "same link"))
	must(t, s.SymlinkIfPossible("longer", "other link"))
	want := []string{"longer", "other", "other link"}
	if got := s.ChangedSince(start); !slices.Equal(got, want) {
		t.Errorf("ChangedSince = %q, want %q", got, want)
	}
	var changed []string
	for _, c := range changesOf(t, s) {
		changed = append(changed, c.Path)
	}
	if !slices.Equal(changed, want) {
		t.Errorf("Changes are about %q, want %q", changed, want)
	}
}

// A directory that cannot be listed ends a walk with its error, and that of .git above as if there were none.
func TestWalk_unreadable(t *testing.T) {
	t.Parallel()
	base := faultyBase(t)
	for at := 1; ; at++ {
		base.arm(at)
		err := fsutil.Walk(context.Background(), base, ".", fsutil.WalkOptions{NoIgnore: true, Workers: 1}, func(fsutil.Entry) error { return nil })
		hit, open := base.state()
		if hit == "" {
			must(t, err)
			break
		}
		if !errors.Is(err, errDisk) || open != 0 {
			t.Errorf("%s failed: %v, %d files are open", hit, err, open)
		}
	}
}

// What was read for a write that failed is not held any more, and so counts no more among the bytes held in memory.
func TestStage_failedWritesHoldNothing(t *testing.T) {
	t.Parallel()
	const size = 300 << 10
	mem := afero.NewMemMapFs()
	must(t, afero.WriteFile(mem, "f", make([]byte, size-1), 0o644))
	s := fsutil.NewStage(&lyingFs{mem, size})
	fsutil.SetLimits(s, 2*size, 0)
	for range 5 {
		f, err := s.OpenFile("f", os.O_RDWR, 0)
		must(t, err)
		if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, fsutil.ErrDrift) {
			t.Fatalf("WriteAt: %v", err)
		}
		must(t, f.Close())
	}
	must(t, afero.WriteFile(s, "new", make([]byte, size), 0o644))
	if n := fsutil.Spilled(s); n != 0 {
		t.Errorf("%d bytes were put into the temporary file, although %d are allowed in memory", n, 2*size)
	}
	must(t, s.Close())
}
