package stage_test

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

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

type lyingInfo struct {
	os.FileInfo
	size int64
}

func (i lyingInfo) Size() int64 { return i.size }

// lying has files that claim a size of size bytes, whatever their content.
func lying(fsys afero.Fs, size int64) afero.Fs {
	return errorfs.Wrap(errorfs.Only(fsys), func(op *errorfs.Op, do func() error) error {
		err := do()
		if err == nil && op.Info != nil && op.Info.Mode().IsRegular() {
			op.Info = lyingInfo{op.Info, size}
		}
		return err
	})
}

// A file with more or fewer bytes than its size was changed while it was read: no operation accepts what it read.
func TestStage_sizeDrift(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{9, 11} {
		open := func() *stage.Stage {
			mem := afero.NewMemMapFs()
			fstest.Must(t, afero.WriteFile(mem, "f", []byte("0123456789"), 0o644))
			s := stage.New(lying(mem, size))
			stage.SetLimits(s, 1<<20, 0)
			return s
		}
		s := open()
		_, readErr := s.ReadFile("f")
		editErr := s.Edit("f", []change.Splice{cut(0, 1, "x")})
		fstest.Must(t, s.Chmod("f", 0o600))
		_, changesErr := s.Changes()
		errs := map[string]error{"read": readErr, "edit": editErr, "changes": changesErr}
		errs["view"] = open().View("f", 100, func(text *stage.Content) error {
			r, err := text.Open()
			fstest.Must(t, err)
			defer r.Close()
			_, err = io.ReadAll(r)
			return err
		})
		if size > 10 { // a stream, and a copy of one, stop reading at the expected size
			f, err := open().Open("f")
			fstest.Must(t, err)
			_, errs["stream"] = io.ReadAll(f)
			fstest.Must(t, f.Close())
			f, err = open().OpenFile("f", os.O_RDWR, 0)
			fstest.Must(t, err)
			_, errs["write"] = f.WriteAt([]byte("x"), 2)
			fstest.Must(t, f.Close())
		}
		for op, err := range errs {
			if !errors.Is(err, names.ErrDrift) {
				t.Errorf("10 bytes with the reported size %d: %s: %v", size, op, err)
			}
		}
	}
}

// A file of /proc has size 0. The limit counts the bytes that are read.
func TestStage_limitOfReading(t *testing.T) {
	t.Parallel()
	mem := afero.NewMemMapFs()
	fstest.Must(t, afero.WriteFile(mem, "f", []byte("0123456789"), 0o644))
	for _, size := range []int64{10, 0} {
		for _, max := range []int64{9, 10, 0} {
			s := stage.New(lying(mem, size))
			s.SetMaxRead(max)
			data, readErr := s.ReadFile("f")
			fstest.Must(t, s.Chmod("f", 0o600))
			_, changesErr := s.Changes()
			if max == 9 {
				if !errors.Is(readErr, names.ErrTooLarge) || data != nil {
					t.Errorf("reported size %d: read %q, %v", size, data, readErr)
				}
				if size == 0 != errors.Is(changesErr, names.ErrTooLarge) {
					t.Errorf("reported size %d: changes: %v", size, changesErr)
				}
				if err := s.Edit("f", []change.Splice{cut(0, 1, "x")}); !errors.Is(err, names.ErrTooLarge) {
					t.Errorf("reported size %d: edit: %v", size, err)
				}
				continue
			}
			if readErr != nil || changesErr != nil || string(data) != "0123456789" {
				t.Errorf("reported size %d, limit %d: read %q, %v, changes %v", size, max, data, readErr, changesErr)
			}
			// By now it is in the cache, with more bytes than this call allows.
			if _, err := readMax(s, "f", 5); !errors.Is(err, names.ErrTooLarge) {
				t.Errorf("reported size %d: read at most 5: %v", size, err)
			}
		}
	}
	s := stage.New(mem)
	fstest.Must(t, afero.WriteFile(s, "g", nil, 0o644))
	f, err := s.OpenFile("g", os.O_RDWR, 0)
	fstest.Must(t, err)
	defer f.Close()
	if _, err := f.WriteAt([]byte("xx"), 1<<40-1); !errors.Is(err, names.ErrTooLarge) {
		t.Errorf("a write beyond a TiB: %v", err)
	}
	if err := f.Truncate(1<<40 + 1); !errors.Is(err, names.ErrTooLarge) {
		t.Errorf("truncation to more than a TiB: %v", err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the file has become %d bytes long, %v", info.Size(), err)
	}
}

// An entry that was listed but is gone when it is read has drifted: the change cannot be the requested one.
func TestStage_entryGone(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Must(t, root.Mkdir("d", 0o755))
	fstest.Write(t, root, "d/f", "x")
	s := stage.New(goneFs{root, "f"})
	fstest.Must(t, s.Rename("d", "e"))
	if _, err := s.Changes(); !errors.Is(err, names.ErrDrift) || !strings.Contains(err.Error(), "d/f") {
		t.Errorf("Changes: %v, want ErrDrift about d/f", err)
	}
	if _, err := afero.ReadDir(s, "e"); !errors.Is(err, names.ErrDrift) {
		t.Errorf("Readdir: %v, want ErrDrift", err)
	}
	s = stage.New(goneFs{root, "f"})
	if err := s.RemoveAll("d"); !errors.Is(err, names.ErrDrift) {
		t.Errorf("RemoveAll: %v, want ErrDrift", err)
	}
}

// goneFs lists an entry that cannot be found.
type goneFs struct {
	*rootfs.FS
	name string
}

func (g goneFs) OpenDir(name string) (capability.DirHandle, error) {
	d, err := g.FS.OpenDir(name)
	return goneDir{d, g.name}, err
}

type goneDir struct {
	capability.DirHandle
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

// A file that was removed while it was open can still be written to, as on every POSIX system, but is no longer a
// change.
func TestStage_writeToRemoved(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove open files")
	}
	dir := t.TempDir()
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644))
	s := stage.New(fstest.OpenRoot(t, dir))
	start := s.Savepoint()
	f, err := s.OpenFile("f", os.O_RDWR, 0)
	fstest.Must(t, err)
	defer f.Close()
	fstest.Must(t, s.Remove("f"))
	middle := s.Savepoint()
	_, err = f.WriteAt([]byte("NEW!"), 0)
	fstest.Must(t, err)
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
	if c := changesOf(t, s); len(c) != 1 || c[0].Kind != change.Deleted || c[0].Old.Hash != change.HashOf([]byte("old")) {
		t.Errorf("changes: %+v", c)
	}
	s.Rollback(start)
	if got := fstest.Read(t, s, "f"); got != "old" {
		t.Errorf("after the rollback it is %q", got)
	}
}

// An entry in the place of a removed entry of the base counts as changed exactly if it differs.
func TestStage_ChangedSince_replaced(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "same", "x")
	fstest.Write(t, root, "other", "x")
	fstest.Write(t, root, "longer", "x")
	for _, name := range []string{"same link", "other link"} {
		if err := root.SymlinkIfPossible("same", name); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	s := stage.New(root)
	start := s.Savepoint()
	for _, name := range []string{"same", "other", "longer", "same link", "other link"} {
		fstest.Must(t, s.Remove(name))
	}
	fstest.Must(t, afero.WriteFile(s, "same", []byte("x"), 0o644))
	fstest.Must(t, afero.WriteFile(s, "other", []byte("y"), 0o644))
	fstest.Must(t, afero.WriteFile(s, "longer", []byte("xx"), 0o644))
	fstest.Must(t, s.SymlinkIfPossible("same", "same link"))
	fstest.Must(t, s.SymlinkIfPossible("longer", "other link"))
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

// A directory that cannot be listed ends a walk with its error.
func TestWalk_unreadable(t *testing.T) {
	t.Parallel()
	base := faultyBase(t)
	for at := 1; ; at++ {
		base.arm(at)
		err := walk.Walk(context.Background(), base, ".", walk.Options{NoIgnore: true, Workers: 1}, func(walk.Entry) error { return nil })
		hit, open := base.state()
		if hit == "" {
			fstest.Must(t, err)
			break
		}
		if !errors.Is(err, fstest.ErrDisk) || open != 0 {
			t.Errorf("%s failed: %v, %d files are open", hit, err, open)
		}
	}
}

// Bytes that were read for a failed write are released, and do not count among the bytes held in memory.
func TestStage_failedWritesHoldNothing(t *testing.T) {
	t.Parallel()
	const size = 300 << 10
	mem := afero.NewMemMapFs()
	fstest.Must(t, afero.WriteFile(mem, "f", make([]byte, size-1), 0o644))
	s := stage.New(lying(mem, size))
	stage.SetLimits(s, 2*size, 0)
	for range 5 {
		f, err := s.OpenFile("f", os.O_RDWR, 0)
		fstest.Must(t, err)
		if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, names.ErrDrift) {
			t.Fatalf("WriteAt: %v", err)
		}
		fstest.Must(t, f.Close())
	}
	fstest.Must(t, afero.WriteFile(s, "new", make([]byte, size), 0o644))
	if n := stage.Spilled(s); n != 0 {
		t.Errorf("%d bytes were put into the temporary file, although %d are allowed in memory", n, 2*size)
	}
	fstest.Must(t, s.Close())
}
