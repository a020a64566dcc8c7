package errorfs_test

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func openRoot(t *testing.T) *rootfs.FS {
	t.Helper()
	root, err := rootfs.Open(fstest.TempDir(t))
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return root
}

// abilities are the interfaces that a wrapped file system may have in addition to afero.Fs.
func abilities() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[afero.Symlinker](), reflect.TypeFor[capability.Linker](), reflect.TypeFor[capability.Exchanger](),
		reflect.TypeFor[capability.NoReplacer](), reflect.TypeFor[capability.DirSyncer](), reflect.TypeFor[capability.Locker](),
		reflect.TypeFor[capability.Identifier](), reflect.TypeFor[capability.MetaCopier](), reflect.TypeFor[capability.LinkTimer](),
		reflect.TypeFor[capability.Inheriter](), reflect.TypeFor[capability.FileLocker](),
	}
}

// TestWrap_abilities wraps file systems of all kinds twice: each keeps its abilities.
func TestWrap_abilities(t *testing.T) {
	t.Parallel()
	mem, err := raise.FS(afero.NewMemMapFs())
	must(t, err)
	for name, fsys := range map[string]afero.Fs{
		"root": openRoot(t), "plain": errorfs.Plain(openRoot(t)), "memory": mem, "raw memory": afero.NewMemMapFs(),
		"base path": afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()),
	} {
		wrapped := errorfs.Wrap(errorfs.Wrap(fsys, nil), nil)
		for _, ability := range abilities() {
			if before, after := reflect.TypeOf(fsys).Implements(ability), reflect.TypeOf(wrapped).Implements(ability); before != after {
				t.Errorf("%s: %v before: %t, wrapped: %t", name, ability, before, after)
			}
		}
		if _, ok := wrapped.(capability.DirOpener); ok {
			t.Errorf("%s: there is a way past the hook", name)
		}
	}
}

// TestWrap_suite: with a hook that does nothing, a wrapped file system passes the suite like the one below it.
func TestWrap_suite(t *testing.T) {
	t.Parallel()
	fstest.Run(t, func(t *testing.T) afero.Fs { return errorfs.Wrap(openRoot(t), nil) }, fstest.Options{})
}

// onFile opens the file a, also for writing, and calls do with it.
func onFile(do func(f afero.File) error) func(fsys afero.Fs) error {
	return func(fsys afero.Fs) error {
		f, err := fsys.OpenFile("a", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(do(f), f.Close())
	}
}

// operations returns a call of each kind, on a tree with the file a and the directory d.
func operations() map[string]func(fsys afero.Fs) error {
	buf := make([]byte, 1)
	now := time.Now()
	return map[string]func(fsys afero.Fs) error{
		"open":      onFile(func(afero.File) error { return nil }),
		"read":      onFile(func(f afero.File) error { _, err := f.Read(buf); return err }),
		"pread":     onFile(func(f afero.File) error { _, err := f.ReadAt(buf, 0); return err }),
		"write":     onFile(func(f afero.File) error { _, err := f.WriteString("b"); return err }),
		"pwrite":    onFile(func(f afero.File) error { _, err := f.WriteAt(buf, 1); return err }),
		"truncate":  onFile(func(f afero.File) error { return f.Truncate(1) }),
		"sync":      onFile(func(f afero.File) error { return f.Sync() }),
		"fstat":     onFile(func(f afero.File) error { _, err := f.Stat(); return err }),
		"close":     onFile(func(afero.File) error { return nil }),
		"readdir":   func(fsys afero.Fs) error { _, err := afero.ReadDir(fsys, "d"); return err },
		"mkdir":     func(fsys afero.Fs) error { return fsys.Mkdir("e", 0o755) },
		"mkdirall":  func(fsys afero.Fs) error { return fsys.MkdirAll("e/f", 0o755) },
		"remove":    func(fsys afero.Fs) error { return fsys.Remove("a") },
		"removeall": func(fsys afero.Fs) error { return fsys.RemoveAll("d") },
		"rename":    func(fsys afero.Fs) error { return fsys.Rename("a", "b") },
		"noreplace": func(fsys afero.Fs) error { return fsys.(capability.NoReplacer).RenameNoReplace("a", "b") },
		"exchange":  func(fsys afero.Fs) error { return fsys.(capability.Exchanger).Exchange("a", "d") },
		"link":      func(fsys afero.Fs) error { return fsys.(capability.Linker).Link("a", "b") },
		"symlink":   func(fsys afero.Fs) error { return fsys.(afero.Linker).SymlinkIfPossible("a", "b") },
		"readlink":  func(fsys afero.Fs) error { _, err := fsys.(afero.LinkReader).ReadlinkIfPossible("l"); return err },
		"stat":      func(fsys afero.Fs) error { _, err := fsys.Stat("a"); return err },
		"lstat":     func(fsys afero.Fs) error { _, _, err := fsys.(afero.Lstater).LstatIfPossible("a"); return err },
		"chmod":     func(fsys afero.Fs) error { return fsys.Chmod("a", 0o600) },
		"chown":     func(fsys afero.Fs) error { return fsys.Chown("a", os.Getuid(), os.Getgid()) },
		"chtimes":   func(fsys afero.Fs) error { return fsys.Chtimes("a", now, now) },
		"copymeta":  func(fsys afero.Fs) error { return fsys.(capability.MetaCopier).CopyMeta("a", "d/c") },
		"linktimes": func(fsys afero.Fs) error { return fsys.(capability.LinkTimer).LinkTimes("l", now.UnixNano()) },
		"inherit":   func(fsys afero.Fs) error { _, err := fsys.(capability.Inheriter).Inherit("d", "d/c"); return err },
		"syncdir":   func(fsys afero.Fs) error { return fsys.(capability.DirSyncer).SyncDir("d") },
	}
}

// TestWrap_everyKind: each operation passes the hook with its kind, runs, and fails with the error of the hook.
func TestWrap_everyKind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("a RootFs has all abilities on Linux only")
	}
	for kind, do := range operations() {
		root := openRoot(t)
		must(t, root.Mkdir("d", 0o755), afero.WriteFile(root, "a", []byte("a"), 0o644), afero.WriteFile(root, "d/c", nil, 0o644), root.SymlinkIfPossible("a", "l"))
		broken := errorfs.Wrap(root, errorfs.Failing(syscall.EIO, func(op *errorfs.Op) bool { return op.Kind == kind }))
		err := do(broken)
		if failed, ok := errors.AsType[*fs.PathError](err); !ok || failed.Op != kind || failed.Path == "" || !errors.Is(err, syscall.EIO) {
			t.Errorf("%s, broken: %v", kind, err)
		}
		var seen []string
		whole := errorfs.Wrap(root, errorfs.Before(func(op *errorfs.Op) error {
			seen = append(seen, op.Kind)
			return nil
		}))
		if err := do(whole); err != nil || !slices.Contains(seen, kind) {
			t.Errorf("%s: the hook has seen %q: %v", kind, seen, err)
		}
	}
}

// TestHook_partly: a hook can have half of a write done, and replace the bytes of a read.
func TestHook_partly(t *testing.T) {
	t.Parallel()
	mem := afero.NewMemMapFs()
	fsys := errorfs.Wrap(mem, func(op *errorfs.Op, do func() error) error {
		switch op.Kind {
		case "write":
			op.Data = op.Data[:len(op.Data)/2]
			return errors.Join(do(), op.Error(syscall.EIO))
		case "read":
			op.Count = copy(op.Data, "other")
			return nil
		case "lstat":
			op.Name = "a"
		}
		return do()
	})
	f, err := fsys.Create("a")
	must(t, err)
	if n, err := f.Write([]byte("four")); n != 2 || !errors.Is(err, syscall.EIO) {
		t.Errorf("wrote %d: %v", n, err)
	}
	must(t, f.Close())
	if data, err := afero.ReadFile(mem, "a"); err != nil || string(data) != "fo" {
		t.Errorf("%q, %v", data, err)
	}
	f, err = fsys.Open("a")
	must(t, err)
	p := make([]byte, 10)
	if n, err := f.Read(p); err != nil || string(p[:n]) != "other" {
		t.Errorf("read %q, %v", p[:n], err)
	}
	must(t, f.Close())
	if info, _, err := fsys.(afero.Lstater).LstatIfPossible("elsewhere"); err != nil || info.Size() != 2 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestClose: the file below is always closed.
func TestClose(t *testing.T) {
	t.Parallel()
	below := &closed{}
	fsys := errorfs.Wrap(afero.NewMemMapFs(), func(op *errorfs.Op, do func() error) error {
		if op.Kind == "close" {
			return os.ErrPermission
		}
		err := do()
		if op.Kind == "open" {
			below.File = op.File
			op.File = below
		}
		return err
	})
	f, err := fsys.Create("a")
	must(t, err)
	if err := f.Close(); !errors.Is(err, os.ErrPermission) || below.n != 1 {
		t.Errorf("closed %d times: %v", below.n, err)
	}
}

type closed struct {
	afero.File
	n int
}

func (c *closed) Close() error { c.n++; return c.File.Close() }
