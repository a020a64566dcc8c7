package walk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/walk"
)

// walkFaults makes opening some paths fail.
func walkFaults(fsys afero.Fs, faults map[string]error) afero.Fs {
	return errorfs.Wrap(errorfs.Only(fsys), func(op *errorfs.Op, do func() error) error {
		if err := faults[op.Name]; err != nil && op.Kind == "open" && op.Flag == os.O_RDONLY {
			return &fs.PathError{Op: "open", Path: "/secret/place/" + op.Name, Err: err}
		}
		return do()
	})
}

// walkOpenerFs is a DirOpener that counts open handles, and records the use of closed ones.
type walkOpenerFs struct {
	afero.Fs
	open, most, late atomic.Int64
}

func (f *walkOpenerFs) OpenDir(name string) (capability.DirHandle, error) {
	h, err := handle.OpenDir(f.Fs, name)
	if err != nil {
		return nil, err
	}
	for n := f.open.Add(1); ; {
		if most := f.most.Load(); n <= most || f.most.CompareAndSwap(most, n) {
			return &walkCountedDir{DirHandle: h, fsys: f}, nil
		}
	}
}

type walkCountedDir struct {
	capability.DirHandle
	fsys   *walkOpenerFs
	closed atomic.Bool
}

func (d *walkCountedDir) OpenFile(name string) (capability.ReadFile, error) {
	if d.closed.Load() {
		d.fsys.late.Add(1)
	}
	return d.DirHandle.OpenFile(name)
}

func (d *walkCountedDir) Close() error {
	if d.closed.Swap(true) {
		d.fsys.late.Add(1)
	}
	d.fsys.open.Add(-1)
	return d.DirHandle.Close()
}

func (f *walkOpenerFs) check(t *testing.T) {
	t.Helper()
	if open, late := f.open.Load(), f.late.Load(); open != 0 || late != 0 {
		t.Errorf("%d directories are left open, %d uses after closing", open, late)
	}
}

// wideTree has enough files in one directory to be shared by workers, and directories after and below it.
func wideTree() walkTree {
	tree := walkTree{}
	for i := range 1500 {
		tree[fmt.Sprintf("wide/f%04d", i)] = "x"
	}
	for i := range 40 {
		tree[fmt.Sprintf("wide/d%02d/e/f", i)] = "x"
		tree[fmt.Sprintf("side/d%02d/f", i)] = "x"
	}
	return tree
}

// ends runs a walk and checks that all its goroutines end and all directories are closed.
func ends(t *testing.T, tree walkTree, opt walk.Options, ctx func() context.Context, visit func(walk.Entry) error) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fsys := &walkOpenerFs{Fs: afero.NewMemMapFs()}
		tree.write(t, fsys)
		err = walk.Walk(ctx(), fsys, ".", opt, visit)
		fsys.check(t)
	})
	return err
}

func TestWalkVisitError(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, at := range []string{"wide/f0000", "wide/f1499", "wide/d20/e/f", "side/d39/f"} {
		err := ends(t, wideTree(), walk.Options{Workers: 4}, context.Background, func(e walk.Entry) error {
			if e.Path() == at {
				return boom
			}
			return nil
		})
		if err != boom {
			t.Errorf("%s: got %v, want the error of visit itself", at, err)
		}
	}
}

func TestWalkLeastOfErrors(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	walkTree{"a/x": "", "b/x": "", "c/x": ""}.write(t, fsys)
	var all sync.WaitGroup
	all.Add(3)
	// None fails before all have begun, so each is among those that failed.
	err := walk.Walk(t.Context(), fsys, ".", walk.Options{Workers: 3}, func(e walk.Entry) error {
		all.Done()
		all.Wait()
		return errors.New(e.Path())
	})
	if err == nil || err.Error() != "a/x" {
		t.Errorf("got %v, want that of a/x", err)
	}
}

func TestWalkStopsAfterError(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	var visits atomic.Int64
	err := ends(t, wideTree(), walk.Options{Workers: 1}, context.Background, func(walk.Entry) error {
		visits.Add(1)
		return boom
	})
	if n := visits.Load(); n != 1 || err != boom {
		t.Errorf("%d visits, %v", n, err)
	}
}

func TestWalkSkipAll(t *testing.T) {
	t.Parallel()
	for _, stop := range []error{fs.SkipAll, fmt.Errorf("enough: %w", fs.SkipAll)} {
		var visits atomic.Int64
		err := ends(t, wideTree(), walk.Options{Workers: 1}, context.Background, func(walk.Entry) error {
			visits.Add(1)
			return stop
		})
		if n := visits.Load(); n != 1 || err != nil {
			t.Errorf("%d visits, %v", n, err)
		}
	}
}

func walkBang(path, at string, value any) {
	if path == at {
		panic(value)
	}
}

func TestWalkPanic(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	for _, at := range []string{"wide/f0700", "side/d05/f", "wide/d01/e/f"} {
		bang := func(p string) { walkBang(p, at, cause) }
		for name, err := range map[string]error{
			"visit": ends(t, wideTree(), walk.Options{}, context.Background, func(e walk.Entry) error { bang(e.Path()); return nil }),
			"skip": ends(t, wideTree(), walk.Options{Skip: func(p string, _ bool) bool { bang(p); return false }},
				context.Background, func(walk.Entry) error { return nil }),
		} {
			p, ok := errors.AsType[*panics.Error](err)
			if !ok || p.Value != cause || !errors.Is(err, cause) {
				t.Errorf("%s at %s: %v", name, at, err)
			} else if !strings.Contains(string(p.Stack), "walkBang") {
				t.Errorf("the stack does not show where it was:\n%s", p.Stack)
			}
			if err == nil || err.Error() != "walk "+at+": panic: cause" {
				t.Errorf("%s at %s: message %q", name, at, err)
			}
		}
	}
	fsys := afero.NewMemMapFs()
	walkTree{"a": ""}.write(t, fsys)
	err := walk.Walk(t.Context(), fsys, "a", walk.Options{}, func(walk.Entry) error { panic("bang") })
	if _, ok := errors.AsType[*panics.Error](err); !ok {
		t.Errorf("file as root: %v", err)
	}
}

// A test that calls t.FailNow in visit ends its goroutine. The others must not wait for it.
func TestWalkGoexit(t *testing.T) {
	t.Parallel()
	err := ends(t, wideTree(), walk.Options{Workers: 3}, context.Background, func(e walk.Entry) error {
		if e.Path() == "wide/f0900" {
			runtime.Goexit()
		}
		return nil
	})
	if err == nil {
		t.Error("there is no error")
	}
}

func TestWalkCancel(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	err := ends(t, wideTree(), walk.Options{Workers: 1}, func() context.Context { return ctx }, func(walk.Entry) error {
		visits.Add(1)
		cancel()
		return nil
	})
	if n := visits.Load(); n != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d visits, %v", n, err)
	}
	// A walk with a canceled context does not begin.
	if got, err := walkPaths(ctx, afero.NewMemMapFs(), ".", walk.Options{}); !errors.Is(err, context.Canceled) || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// The error of visit comes before the error of the context, even if it comes later.
func TestWalkErrorAfterCancel(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	synctest.Test(t, func(t *testing.T) {
		fsys := afero.NewMemMapFs()
		walkTree{"a/x": "", "b/x": "", "b/y": ""}.write(t, fsys)
		ctx, cancel := context.WithCancel(t.Context())
		begun := make(chan struct{})
		err := walk.Walk(ctx, fsys, ".", walk.Options{Workers: 2}, func(e walk.Entry) error {
			if e.Path() == "a/x" {
				close(begun)
				time.Sleep(time.Minute) // until the other worker is certainly done
				return boom
			}
			<-begun
			cancel()
			return nil
		})
		if err != boom {
			t.Errorf("got %v", err)
		}
	})
}

func TestWalkOnError(t *testing.T) {
	t.Parallel()
	fsys := walkFaults(afero.NewMemMapFs(), map[string]error{
		"b": fs.ErrPermission, "c/.gitignore": fs.ErrPermission, "gone": fs.ErrNotExist,
	})
	walkTree{"a/x": "", "b/x": "", "c/x": "", "c/.gitignore": "x", "d/x": "", "gone/x": ""}.write(t, fsys)

	_, err := walkPaths(t.Context(), fsys, "b", walk.Options{})
	if !errors.Is(err, fs.ErrPermission) || err.Error() != "open b: permission denied" {
		t.Errorf("got %v", err)
	}
	if _, err = walkPaths(t.Context(), fsys, ".", walk.Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("without OnError: got %v", err)
	}
	// A missing directory is not an error, unless it is the root of the walk.
	if _, err = walkPaths(t.Context(), fsys, "gone", walk.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("root that is gone: got %v", err)
	}

	var mu sync.Mutex
	var told []string
	got, err := walkPaths(t.Context(), fsys, ".", walk.Options{OnError: func(p string, err error) error {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, p+": "+err.Error())
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(told)
	want := []string{"b: open b: permission denied", "c/.gitignore: open c/.gitignore: permission denied"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/x", "c/.gitignore", "c/x", "d/x"}, got); diff != "" {
		t.Errorf("visited (-want +got)\n%s", diff)
	}

	mine := errors.New("mine")
	for stop, want := range map[error]error{mine: mine, fs.SkipAll: nil} {
		if _, err = walkPaths(t.Context(), fsys, ".", walk.Options{OnError: func(string, error) error { return stop }}); err != want {
			t.Errorf("OnError returns %v: got %v", stop, err)
		}
	}
	_, err = walkPaths(t.Context(), fsys, ".", walk.Options{OnError: func(string, error) error { panic("bang") }})
	if _, ok := errors.AsType[*panics.Error](err); !ok {
		t.Errorf("panic in OnError: got %v", err)
	}
}
