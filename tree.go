package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/held"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/watch"
	"github.com/millrace-go/millrace/internal/workspace"
)

// tree is the file system of a run, with its extra capabilities, and the place of its state.
type tree struct {
	x        Executor
	fs       afero.Fs
	stateDir string
	policy   guard.Policy // the policy for all paths
	notes    *watch.Notes // warnings for the Result
	held     *held.Held   // open resources; the verb that has opened the tree is their first user
}

// openOuter is openTree for a method that steps may not call.
func (x Executor) openOuter(ctx context.Context, fsys afero.Fs) (*tree, error) {
	if err := refuseNested(ctx); err != nil {
		return nil, err
	}
	return x.openTree(fsys)
}

// openTree opens the tree for one method, which calls done at its end.
func (x Executor) openTree(fsys afero.Fs) (opened *tree, err error) {
	if root, ok := fsys.(*fsutil.RootFs); ok && root != nil {
		fsys = root.Rooted()
	}
	raised, err := raise.FS(fsys)
	if err != nil {
		return nil, err
	}
	t := &tree{fs: raised, notes: new(watch.Notes), held: held.New()}
	if root, ok := raised.(*rootfs.FS); ok && raised != fsys {
		t.held.Add(root.Close)
	}
	defer func() {
		if err != nil {
			t.done()
		}
	}()
	t.x = x.watched(t.notes)
	if t.stateDir, err = fsutil.Clean(cmp.Or(x.State.Dir, DefaultStateDir)); err != nil {
		return nil, &ExecutorError{Field: "State.Dir", Err: err}
	}
	if t.stateDir == "." {
		return nil, &ExecutorError{Field: "State.Dir", Value: x.State.Dir, Err: fsutil.ErrBadName}
	}
	if err := x.Budget.Check(); err != nil {
		return nil, &ExecutorError{Field: "Budget", Err: err}
	}
	if err := x.Commands.Valid(); err != nil {
		return nil, &ExecutorError{Field: "Commands", Err: err}
	}
	if err := journal.CheckKey(x.State.Key); err != nil {
		return nil, &ExecutorError{Field: "State.Key", Err: err}
	}
	if x.Shared != "" {
		if err := workspace.CheckShared(x.Shared, raised); err != nil {
			return nil, &ExecutorError{Field: "Shared", Value: x.Shared, Err: err}
		}
	}
	if x.RunID != "" && !definition.ValidID(x.RunID) {
		return nil, &ExecutorError{Field: "RunID", Value: x.RunID,
			Err: fmt.Errorf("only letters, digits, - and _ are allowed, at most %d", definition.MaxIDLen)}
	}
	if t.policy, err = x.policy(raised, t.stateDir); err != nil {
		return nil, err
	}
	return t, nil
}

// look returns the tree in the form for the policy.
func (t *tree) look() guard.Tree { return guard.TreeOf(t.fs) }

// done releases the tree for the method that has opened it.
func (t *tree) done() { _ = t.held.Drop() } // a directory, and a temporary file that is not read again

// underLock calls do while the lock of the tree is held. The lock is released however do ends, even by a panic of the
// file system.
func (t *tree) underLock(ctx context.Context, do func(lock io.Closer) error) error {
	lock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err := panics.Protect(lock.Close); err != nil {
			t.notes.Add("lock", "the lock could not be given back: %v", err)
		}
	}()
	return do(lock)
}

// write calls do under the lock, after recovery of unfinished transactions. The warnings of both are in the Result, or
// in the error without a Result.
func (t *tree) write(ctx context.Context, do func(lock io.Closer) (*Result, error)) (*Result, error) {
	var res *Result
	err := t.underLock(ctx, func(lock io.Closer) error {
		if err := t.elsewhere(); err != nil {
			return err
		}
		found, err := t.recover(ctx, lock)
		if err != nil {
			return err
		}
		for _, w := range found.Warnings {
			t.notes.Add(w, "recovery: %s", w)
		}
		res, err = do(lock)
		return err
	})
	if res != nil {
		res.Warnings = t.notes.Take(res.Warnings)
	} else if told := t.notes.Take(nil); err != nil && len(told) > 0 {
		err = fmt.Errorf("%w (%s)", err, strings.Join(told, "; "))
	}
	return res, err
}

// lock acquires the lock of the tree.
func (t *tree) lock(ctx context.Context) (io.Closer, error) {
	wait := t.x.lockWait()
	waiting, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("waited %v", wait))
	defer cancel()
	lock, err := commit.Lock(waiting, t.commitOptions(nil))
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("pipeline canceled: %w", errors.Join(context.Cause(ctx), err))
	}
	return lock, t.limited(err)
}

// ErrNested means that a step has tried to run a pipeline, or to commit, restore or tidy up: the context is the context
// of a step. A run keeps other runs from its tree until it ends, so the call would wait for itself. A step changes the
// tree of its run through its Call; to run the steps of another pipeline, use [Builder.Include].
var ErrNested = errorform.New(errorform.NestedPipeline,
	"a step cannot run a pipeline, for the run that it belongs to keeps all others waiting until it ends: "+
		"put its steps into one pipeline (Builder.Include), or run one after the other")

// stepKey is the key of a mark in the contexts of steps.
type stepKey struct{}

// inStep returns the context for the steps of a run.
func inStep(ctx context.Context) context.Context { return context.WithValue(ctx, stepKey{}, true) }

// refuseNested returns ErrNested if the context is the context of a step.
func refuseNested(ctx context.Context) error {
	if ctx.Value(stepKey{}) != nil {
		return ErrNested
	}
	return nil
}

// FileSystemError means that the file system lacks an ability that writing to the tree needs: an afero.ReadOnlyFs
// cannot be written to. Retrying does not help. Nothing was written, or all of it was undone. docs/filesystems.md lists
// the abilities of file systems.
type FileSystemError struct {
	// Name is the name of the file system, such as "ReadOnlyFilter".
	Name string
	// Limit describes the missing ability, and a way out.
	Limit string
	// Err names the failed step of the commit, its path, and the cause.
	Err error
}

// Error returns the cause, the file system and its limit.
func (e *FileSystemError) Error() string { return fmt.Sprintf("%v (%s: %s)", e.Err, e.Name, e.Limit) }

// Unwrap returns the cause.
func (e *FileSystemError) Unwrap() error { return e.Err }

// Code returns "file_system".
func (e *FileSystemError) Code() string { return errorform.FileSystem }

// limitOf returns the limit of a file system with that name, "" if none is known.
func limitOf(name string) string {
	switch name {
	case "ReadOnlyFilter":
		return "it cannot be written to; searches, plans and dry runs work"
	case "CopyOnWriteFs":
		return "what is in its lower layer can be edited and copied, but neither renamed nor deleted"
	case "CacheOnReadFs":
		return "it cannot make a file that must be new; write to the file system that it caches"
	case "RegexpFs":
		return "it cannot make new files and hides the state directory; write to the file system that it filters"
	}
	return ""
}

// limited returns a FileSystemError for an error that is caused by a permanent limit of the tree's file system, and
// other errors unchanged.
func (t *tree) limited(err error) error {
	limit := limitOf(t.fs.Name())
	if limit == "" || errors.Is(err, fsutil.ErrLocked) {
		return err
	}
	if isAny(err, fs.ErrPermission, fs.ErrNotExist, fs.ErrExist, syscall.EBADF, syscall.EROFS, errors.ErrUnsupported,
		capability.ErrShowsThrough) {
		return &FileSystemError{Name: t.fs.Name(), Limit: limit, Err: err}
	}
	return err
}

var errNotOver = errors.New("the run was ended from within")

// told calls do, with the context of the run, between the first and the last event. The last event is always sent, even
// if do panics.
func (t *tree) told(
	ctx context.Context, started RunStarted, do func(context.Context) (*Result, error),
) (res *Result, err error) {
	started.RunID = t.x.RunID
	if t.x.Observe == nil && t.x.RunContext == nil {
		return do(ctx)
	}
	t.notify(started)
	finish := func(RunFinished) {}
	err = errNotOver // in case a panic passes through here
	defer func() {
		finished := RunFinished{Phase: started.Phase, Err: err}
		if res != nil {
			finished.Result = res.clone()
		}
		t.notify(finished)
		finish(finished)
		if res != nil {
			res.Warnings = t.notes.Take(res.Warnings)
		}
	}()
	if t.x.RunContext != nil {
		var host context.Context
		host, finish = t.x.RunContext(ctx, started)
		within, leave := watch.Within(host, ctx)
		defer leave()
		ctx = within
	}
	return do(ctx)
}

// notify calls the observer, if there is one.
func (t *tree) notify(e Event) {
	if t.x.Observe != nil {
		t.x.Observe(e)
	}
}

// startOf returns the first event of a run of the pipeline.
func startOf(p definition.Pipeline, phase string, dryRun bool) RunStarted {
	return RunStarted{Pipeline: p.Name, Phase: phase, Classification: p.Bounds.Classification, Steps: p.Len(),
		DryRun: dryRun}
}

// watched returns an executor whose observer, logger and contexts can be called anywhere: whatever they do, the caller
// continues.
func (x Executor) watched(n *watch.Notes) Executor {
	if x.Logger != nil {
		x.Logger = watch.Logger(x.Logger, n)
	}
	if x.Observe != nil {
		x.Observe = watch.Observer(x.Observe, x.logger(), n)
	}
	if x.StepContext != nil {
		x.StepContext = watch.Context("StepContext", x.StepContext, x.logger(), n)
	}
	if x.RunContext != nil {
		x.RunContext = watch.Span("RunContext", x.RunContext, x.logger(), n)
	}
	return x
}

func (x Executor) logger() *slog.Logger {
	if x.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return x.Logger
}
