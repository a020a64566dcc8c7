package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/match"
)

// replacement is a pattern and what its matches become.
type replacement struct {
	pattern  *match.Pattern
	template match.Template
	label    string // what messages call it

	matched atomic.Bool // anywhere
	changed atomic.Bool // any bytes
	laps    atomic.Bool // a match overlaps with one that was not taken
}

// replacing is the work of the actions that replace text: edit, multi_edit and regex_transform.
type replacing struct {
	list         []*replacement
	simultaneous bool // all of them match what the step found, instead of each what the one before has left
	binary       bool
	onError      string
	exact        bool // the number of edits matters to the step
}

// partlyStaged is the error of a file that some edits were staged of before another one failed. Only the step's savepoint can
// take them back, so the step fails whatever it says of errors.
type partlyStaged struct{ error }

func (e partlyStaged) Unwrap() error { return e.error }

// run replaces in all files of the call and returns the outcome. Files, Counts and Edits tell of the files that
// really changed.
func (r *replacing) run(ctx context.Context, c *Call) (Outcome, error) {
	goOn := r.onError == onErrorContinue
	r.exact = c.EditsExpected
	files, err := distinctTargets(c, goOn)
	if err != nil {
		return Outcome{}, err
	}
	edits := make([]int, len(files))
	failed := make([]error, len(files))
	err = c.Each(ctx, files, func(ctx context.Context, i int, file string) error {
		n, err := r.file(ctx, c, file)
		edits[i], failed[i] = n, namedUnlessOfStep(file, err)
		if _, partly := errors.AsType[partlyStaged](err); goOn && !partly && !isOfStep(err) && ctx.Err() == nil {
			return nil
		}
		return failed[i]
	})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Counts: map[string]int{}}
	for i, n := range edits {
		if err := failed[i]; err != nil {
			c.Warnf("%v; left as it was", err)
			out.Reports = append(out.Reports, FileReport{Path: files[i], Error: reportError(err)})
			continue
		}
		if goOn {
			out.Reports = append(out.Reports, FileReport{Path: files[i], Success: true})
		}
		if n > 0 {
			out.Files = append(out.Files, files[i])
			out.Counts[files[i]] = n
			out.Edits += n
		}
	}
	r.warn(ctx, c, files)
	return out, nil
}

// file replaces in one file and returns how many replacements it made.
func (r *replacing) file(ctx context.Context, c *Call, name string) (int, error) {
	if !r.simultaneous && len(r.list) > 1 {
		return r.rounds(ctx, c, name)
	}
	edits := 0
	find := func(data []byte) (splices []fsutil.Splice, err error) {
		c.read(len(data))
		left := c.budget()
		switch {
		case !r.binary && fsutil.IsBinary(data):
			return nil, ErrBinary
		case r.simultaneous:
			splices, err = r.together(ctx, c.Step, data, left)
		default:
			splices, err = r.splices(ctx, c.Step, 0, data, left)
		}
		edits = len(splices)
		return splices, cmp.Or(err, c.spend(left))
	}
	whole := func(most int64) error { return c.FS.EditBytes(name, most, find) }
	large, err := c.either(name, r.streams(), whole)
	if large {
		n, failed := r.inPieces(ctx, c, name)
		if failed != match.ErrLongLine { //nolint:errorlint // it comes as it is
			return n, failed
		}
		_, err = c.either(name, false, whole)
	}
	if err != nil {
		return 0, err
	}
	return edits, nil
}

// rounds is file for several replacements, each of which sees what the one before has left.
func (r *replacing) rounds(ctx context.Context, c *Call, name string) (int, error) {
	data, large, err := c.readOr(name, r.streams())
	if large {
		n, failed := r.inPieces(ctx, c, name)
		if failed != match.ErrLongLine { //nolint:errorlint // it comes as it is
			return n, failed
		}
		data, err = c.readFile(name)
	}
	switch {
	case err != nil:
		return 0, err
	case !r.binary && fsutil.IsBinary(data):
		return 0, ErrBinary
	}
	left := c.budget()
	edits := 0
	now := data
	var rounds [][]fsutil.Splice
	for i := range r.list {
		splices, err := r.splices(ctx, c.Step, i, now, left)
		if err != nil {
			return 0, err
		}
		if len(splices) == 0 {
			continue
		}
		edits += len(splices)
		rounds = append(rounds, splices)
		if now, err = fsutil.ApplySplices(now, splices); err != nil {
			return 0, err
		}
	}
	if err := c.spend(left); err != nil {
		return 0, err
	}
	// Nothing is staged before all is worked out, so that a file of which one edit fails has none of the others.
	for i, splices := range rounds {
		switch err := c.FS.Edit(name, splices); {
		case err != nil && i > 0:
			return 0, partlyStaged{err}
		case err != nil:
			return 0, err
		}
	}
	if len(rounds) > 1 && bytes.Equal(now, data) {
		return 0, nil // one edit has taken back what another one did
	}
	return edits, nil
}

// splices returns a splice for each match of one replacement that changes anything.
func (r *replacing) splices(ctx context.Context, step string, i int, data []byte, left *budget) (splices []fsutil.Splice, err error) {
	one := r.list[i]
	if found, err := one.pattern.Contains(ctx, data); !found || err != nil {
		return nil, err
	}
	one.matched.Store(true)
	by := []fsutil.Origin{{Step: step, Edit: i}}
	replacer := one.pattern.Replacer(one.template, data)
	var over error
	err = one.pattern.All(ctx, data, 0, func(loc []int) bool {
		if r.exact && overlaps(ctx, one.pattern, data, loc) {
			one.laps.Store(true)
		}
		var text []byte
		if text, over = left.replace(replacer, loc, data); text != nil {
			splices = append(splices, fsutil.Splice{Off: int64(loc[0]), Len: int64(loc[1] - loc[0]), Text: text, By: by})
		}
		return over == nil
	})
	if len(splices) > 0 {
		one.changed.Store(true)
	}
	return splices, cmp.Or(over, err)
}

// overlaps reports whether a literal text also matches from within one of its matches, as "aa" does in "aaa".
func overlaps(ctx context.Context, p *match.Pattern, data []byte, loc []int) bool {
	length := loc[1] - loc[0]
	if p.Mode() != match.Literal || length < 2 {
		return false
	}
	lap, err := p.Contains(ctx, data[loc[0]+1:min(len(data), loc[1]+length-1)])
	return lap && err == nil
}

// together returns the splices of all replacements, none of which sees what another one does.
func (r *replacing) together(ctx context.Context, step string, data []byte, left *budget) ([]fsutil.Splice, error) {
	var all []fsutil.Splice
	var spans spans
	for i := range r.list {
		one := r.list[i]
		by := []fsutil.Origin{{Step: step, Edit: i}}
		replacer := one.pattern.Replacer(one.template, data)
		var over error
		err := one.pattern.All(ctx, data, 0, func(loc []int) bool {
			one.matched.Store(true)
			spans.list = append(spans.list, span{loc[0], loc[1], i})
			var text []byte
			if text, over = left.replace(replacer, loc, data); text != nil {
				one.changed.Store(true)
				all = append(all, fsutil.Splice{Off: int64(loc[0]), Len: int64(loc[1] - loc[0]), Text: text, By: by})
			}
			return over == nil
		})
		if err := cmp.Or(over, err); err != nil {
			return nil, err
		}
	}
	if over, off := spans.overlap(); over != nil {
		over.Line = 1 + bytes.Count(data[:off], []byte{'\n'})
		return nil, over
	}
	sortSplices(all)
	return all, nil
}

// distinctTargets returns the files of the call without those that symbolic links lead to a second time. Of
// several names of one file the one without a link stays. With keep, a name that leads nowhere stays too, for the one who reads it.
func distinctTargets(c *Call, keep bool) ([]string, error) {
	targets := make([]string, len(c.Files))
	own := make(map[string]bool, len(c.Files))
	for i, file := range c.Files {
		target, err := c.FS.Resolve(file)
		switch {
		case err != nil && keep:
			target = file
		case err != nil:
			return nil, fileError(file, err)
		}
		targets[i] = target
		own[target] = own[target] || target == file
	}
	seen := make(map[string]bool, len(c.Files))
	files := make([]string, 0, len(c.Files))
	for i, file := range c.Files {
		target := targets[i]
		if seen[target] || own[target] && file != target {
			continue
		}
		seen[target] = true
		files = append(files, file)
	}
	return files, nil
}

// OverlapError says that two edits of one step want the same bytes.
type OverlapError struct {
	First, Second int // indices of the edits, from 0; the first one begins further left
	Line          int // where the second one begins
}

// Error names the edits and the line.
func (e *OverlapError) Error() string {
	if e.First == e.Second {
		return fmt.Sprintf("matches of edit %d overlap in line %d", e.First, e.Line)
	}
	return fmt.Sprintf("edits %d and %d overlap in line %d; in mode 'sequential' each sees what the one before has left", e.First, e.Second, e.Line)
}
