package actions

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"
	"golang.org/x/sync/errgroup"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/panics"
)

// Pool returns the number of goroutines to use.
func (c *Call) Pool() int {
	if c.Workers > 0 {
		return c.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Each calls fn for every file with its index, from several goroutines, and reports progress. When calls fail, Each
// returns the error of the first file in the list that failed; files after it may or may not have been seen. A panic in
// fn is returned as an error.
func (c *Call) Each(ctx context.Context, files []string, fn func(ctx context.Context, i int, file string) error) error {
	errs := make([]error, len(files))
	var next, failed atomic.Int64
	progress := c.progress(len(files))
	failed.Store(int64(len(files)))
	g, gctx := errgroup.WithContext(ctx)
	for range min(c.Pool(), len(files)) {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				// Indices are handed out in order, so the first error does not depend on scheduling.
				if i >= len(files) || int64(i) > failed.Load() {
					return nil
				}
				if err := gctx.Err(); err != nil {
					return err
				}
				if errs[i] = panics.Protect(func() error { return fn(gctx, i, files[i]) }); errs[i] != nil {
					for f := failed.Load(); int64(i) < f && !failed.CompareAndSwap(f, int64(i)); f = failed.Load() {
					}
					continue
				}
				progress.file()
			}
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if i := failed.Load(); i < int64(len(files)) {
		return errs[i]
	}
	return ctx.Err()
}

// try is Each with errors that name their file, except errors of a limit on the whole step. With goOn, a failed file
// does not end it, and failed has the error of each file.
func (c *Call) try(
	ctx context.Context, files []string, goOn bool, fn func(ctx context.Context, i int, file string) error,
) (failed []error, err error) {
	failed = make([]error, len(files))
	return failed, c.Each(ctx, files, func(ctx context.Context, i int, file string) error {
		err := fn(ctx, i, file)
		failed[i] = namedUnlessOfStep(file, err)
		if goOn && !isOfStep(err) && ctx.Err() == nil {
			return nil
		}
		return failed[i]
	})
}

// EditEach can be the Run of an action that computes a new text for each file:
//
//	func (Upper) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
//		return c.EditEach(ctx, func(name string, old []byte) ([]byte, error) { return bytes.ToUpper(old), nil })
//	}
//
// It calls edit for every file of the call and stages the returned bytes. edit may change and return the bytes that it
// receives. Files are read and written within the host's limits, through symbolic links, each file once, and keep their
// mode. A file whose bytes stay the same is not touched. The outcome has the files that changed, each as one edit. The
// first error, in the order of the list, is returned as a *FileError. edit is called from several goroutines.
func (c *Call) EditEach(ctx context.Context, edit func(name string, old []byte) ([]byte, error)) (Outcome, error) {
	files, err := distinctTargets(c, false)
	if err != nil {
		return Outcome{}, err
	}
	edits := make([]int, len(files))
	_, err = c.try(ctx, files, false, func(_ context.Context, i int, name string) error {
		old, err := c.readFile(name)
		if err != nil {
			return err
		}
		text, err := edit(name, bytes.Clone(old))
		switch {
		case err != nil, bytes.Equal(old, text):
			return err
		case int64(len(text)) > c.Limits.OutputBytes():
			return &LimitError{What: kinds.LimitOutput, Limit: c.Limits.OutputBytes(), Got: int64(len(text))}
		}
		if err := c.spendBytes(workedPath + int64(len(text))); err != nil {
			return err
		}
		edits[i] = 1
		return afero.WriteFile(c.FS, name, text, 0o644)
	})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Counts: make(map[string]int)}
	for i, name := range files {
		out.change(name, edits[i])
	}
	return out, nil
}

// EditSplices is EditEach for edits with known places: find returns the splices of a file in the form of
// [fsutil.Stage.Edit], and may not change old. A splice counts as one edit and keeps its author. The outcome has the
// files that changed, and the number of splices of each.
func (c *Call) EditSplices(
	ctx context.Context, find func(name string, old []byte) ([]change.Splice, error),
) (Outcome, error) {
	files, err := distinctTargets(c, false)
	if err != nil {
		return Outcome{}, err
	}
	edits := make([]int, len(files))
	_, err = c.try(ctx, files, false, func(_ context.Context, i int, name string) error {
		left := c.budget()
		return c.update(name, nil, func(text *source) ([]change.Splice, error) {
			old, err := text.Bytes(c.Limits.FileBytes())
			if err != nil {
				return nil, err
			}
			splices, err := find(name, old)
			if err != nil {
				return nil, err
			}
			left.Restart()
			for _, s := range splices {
				if err := errors.Join(left.Match(), left.Take(len(s.Text)), left.Splice()); err != nil {
					return nil, err
				}
			}
			edits[i] = len(splices)
			return splices, left.Spend()
		})
	})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Counts: make(map[string]int)}
	for i, name := range files {
		out.change(name, edits[i])
	}
	return out, nil
}

// progressEvery is the number of files between two progress reports of a step without a known total.
const progressEvery = 64

// progress counts and reports the finished files of a step. It is safe for concurrent use.
type progress struct {
	on    func(done, total int) // nil if it is not wanted
	total int                   // 0 if not known

	mu   sync.Mutex
	done int
}

// progress starts to count files. total is 0 if it is not known.
func (c *Call) progress(total int) *progress { return &progress{on: c.OnProgress, total: total} }

// file counts one more file. Without a total, only every so many files are reported.
func (p *progress) file() {
	if p.on == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done++; p.total > 0 || p.done%progressEvery == 0 {
		p.on(p.done, p.total)
	}
}

// end reports the number of files, for steps whose number was unknown before.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done > 0 {
		p.on(p.done, p.done)
	}
}
