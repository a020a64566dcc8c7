package recovery_test

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
)

// panickyFs is a file system of the user's own that panics at one operation. Its files show no handles, so that its lock
// stands in the tree.
type panickyFs struct {
	afero.Fs
	left *atomic.Int64 // operations before it panics, negative afterwards
}

type panickyFile struct {
	afero.File
	fs panickyFs
}

func (p panickyFs) count() {
	if p.left.Add(-1) == 0 {
		panic("the file system is broken")
	}
}

func (p panickyFs) file(f afero.File, err error) (afero.File, error) {
	if err != nil {
		return nil, err
	}
	return panickyFile{f, p}, nil
}

func (p panickyFs) Open(n string) (afero.File, error) { p.count(); return p.file(p.Fs.Open(n)) }
func (p panickyFs) OpenFile(n string, f int, m os.FileMode) (afero.File, error) {
	p.count()
	return p.file(p.Fs.OpenFile(n, f, m))
}
func (p panickyFs) Mkdir(n string, m os.FileMode) error { p.count(); return p.Fs.Mkdir(n, m) }
func (p panickyFs) Remove(n string) error               { p.count(); return p.Fs.Remove(n) }
func (p panickyFs) Rename(a, b string) error            { p.count(); return p.Fs.Rename(a, b) }
func (p panickyFs) Stat(n string) (os.FileInfo, error)  { p.count(); return p.Fs.Stat(n) }
func (f panickyFile) Readdirnames(n int) ([]string, error) {
	f.fs.count()
	return f.File.Readdirnames(n)
}
func (f panickyFile) Read(data []byte) (int, error)  { f.fs.count(); return f.File.Read(data) }
func (f panickyFile) Write(data []byte) (int, error) { f.fs.count(); return f.File.Write(data) }
func (f panickyFile) WriteString(text string) (int, error) {
	f.fs.count()
	return f.File.WriteString(text)
}

// TestPanicLeavesNoLock: wherever the file system panics, the lock is given back, and the tree is old or new.
func TestPanicLeavesNoLock(t *testing.T) {
	verbs := map[string]func(ctx context.Context, fsys afero.Fs) error{
		"run": func(ctx context.Context, fsys afero.Fs) error {
			_, err := millrace.Executor{NoSync: true}.Run(ctx, fsys, suite.Edit("a.txt"))
			return err
		},
		"commit": func(ctx context.Context, fsys afero.Fs) error {
			plan, err := millrace.Executor{NoSync: true}.Plan(ctx, fsys, suite.Edit("a.txt"))
			if err == nil {
				_, err = plan.Commit(ctx)
			}
			return err
		},
		"recover": func(ctx context.Context, fsys afero.Fs) error {
			_, err := millrace.Executor{}.Recover(ctx, fsys)
			return err
		},
	}
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	for name, verb := range verbs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, panicked := int64(1), true; panicked; n += step {
				dir := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
				suite.ThreeFiles(t, dir)
				if err := dir.MkdirAll(".millrace/tx/20200102_030405_0123456789abcdef", 0o700); err != nil {
					t.Fatal(err)
				}
				fsys := panickyFs{Fs: dir, left: new(atomic.Int64)}
				fsys.left.Store(n)
				_ = fsutil.Protect(func() error { return verb(t.Context(), fsys) }) // what becomes of it is not what this is about
				panicked = fsys.left.Load() <= 0
				fsys.left.Store(0) // it does not panic any more
				x := millrace.Executor{LockWait: 50 * time.Millisecond, NoSync: true}
				if _, err := x.Recover(t.Context(), fsys); errors.Is(err, fsutil.ErrLocked) {
					t.Fatalf("panic at operation %d: %v", n, err)
				}
				if ok, _ := afero.Exists(dir, ".millrace/lock"); ok {
					t.Fatalf("panic at operation %d: the lock is left", n)
				}
				if n > 2000 {
					t.Fatal("it never ends")
				}
			}
		})
	}
}
