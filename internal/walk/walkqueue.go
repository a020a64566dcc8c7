package walk

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/ignore"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/panics"
)

var errGoexit = errors.New("the goroutine was ended by runtime.Goexit")

// walker is the state of one walk. Its workers share two stacks: unread directories, and parts of directories that were
// read. Taking the newest directory first limits the stack to the depth of the tree plus the width along one path.
// Taking parts before directories closes open directories before more are opened.
type walker struct {
	ctx   context.Context
	fsys  afero.Fs
	opt   Options
	visit func(Entry) error

	// stopped is set under mu, and read without it between the visits of a part.
	stopped atomic.Bool

	mu      sync.Mutex
	wake    sync.Cond
	dirs    []task // not read yet
	batches []task // parts of directories that were read
	busy    int    // workers with a task, which may push more

	err     error // of a visit or of reading
	errPath string
	ctxErr  error
}

// task is a directory to be read, or some entries of an open directory.
type task struct {
	path    string
	rules   *ignore.Matcher // the rules for the directory, or for the entries
	root    bool
	depth   int        // of the entries, 1 for the root's entries
	dir     *sharedDir // nil if not read yet
	entries []fs.DirEntry
}

// sharedDir is an open directory that is closed after its last batch.
type sharedDir struct {
	capability.DirHandle
	refs atomic.Int32
}

func (d *sharedDir) release() {
	if d.refs.Add(-1) == 0 {
		// Nothing was written through it, so an error of Close has no meaning.
		_ = d.Close()
	}
}

// work takes tasks until none is left and no other worker can push more.
func (w *walker) work() {
	for {
		t, ok := w.pop()
		if !ok {
			return
		}
		w.do(position{dir: t.path}, func(at *position) {
			if t.dir == nil {
				w.readDir(t, at)
				return
			}
			defer t.dir.release()
			w.visitAll(t, at)
		})
		w.mu.Lock()
		w.busy--
		if w.busy == 0 {
			w.wake.Broadcast()
		}
		w.mu.Unlock()
	}
}

// pop waits for a task and returns it.
func (w *walker) pop() (t task, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.stopped.Load() {
		for _, stack := range [...]*[]task{&w.batches, &w.dirs} {
			if n := len(*stack); n > 0 {
				t, (*stack)[n-1] = (*stack)[n-1], t
				*stack = (*stack)[:n-1]
				w.busy++
				return t, true
			}
		}
		if w.busy == 0 {
			break
		}
		w.wake.Wait()
	}
	return t, false
}

// push pushes tasks onto a stack.
func (w *walker) push(stack *[]task, tasks []task) {
	if len(tasks) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*stack = append(*stack, tasks...)
	w.wake.Broadcast()
}

// position is the position of a worker: an entry of a directory, or the directory.
type position struct{ dir, name string }

func (p position) path() string {
	if p.name == "" {
		return p.dir
	}
	return names.Join(p.dir, p.name)
}

// do calls fn, which stores its position in *at, and turns a panic into the error of the walk. If fn ends its
// goroutine, as t.FailNow does in a test, the walk ends too: the other workers must not wait for it.
func (w *walker) do(at position, fn func(at *position)) {
	err := errGoexit
	defer func() {
		if err != nil {
			w.fail(at.path(), &fs.PathError{Op: "walk", Path: at.path(), Err: err})
		}
	}()
	err = panics.Protect(func() error {
		fn(&at)
		return nil
	})
}

// fail ends the walk. If several visits fail, the error kept does not depend on their order.
func (w *walker) fail(path string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !errors.Is(err, fs.SkipAll) && (w.err == nil || path < w.errPath) {
		w.err, w.errPath = err, path
	}
	w.stopped.Store(true)
	w.wake.Broadcast()
}

// trouble passes the error of an unreadable directory or .gitignore file to OnError, and ends the walk if an error
// remains.
func (w *walker) trouble(path string, err error) {
	if w.opt.OnError != nil {
		err = w.opt.OnError(path, err)
	}
	if err != nil {
		w.fail(path, err)
	}
}

// goOn reports whether the walk continues. It ends the walk if ctx is done.
func (w *walker) goOn() bool {
	if w.stopped.Load() {
		return false
	}
	err := w.ctx.Err()
	if err == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ctxErr = err
	w.stopped.Store(true)
	w.wake.Broadcast()
	return false
}
