package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/sed"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// scripting is one run of a script over many files.
type scripting struct {
	PatternReplace
	script *sed.Script
	call   *Call
	shown  *showing
	done   []scripted
}

// scripted is what the script makes of one file.
type scripted struct {
	name         string
	skipped      bool // it looks binary
	splices      []fsutil.Splice
	replacements int
	preview      string
	err          error
}

// work finds out what the script makes of a file, and writes nothing. An error is one of the run, not of the file.
func (s *scripting) work(ctx context.Context, i int, name string) error {
	one := &s.done[i]
	one.name = name
	data, err := s.call.readFile(name)
	switch {
	case err != nil:
		one.err = fileError(name, err)
		return nil
	case !s.Binary && fsutil.IsBinary(data):
		one.skipped = true
		return nil
	}
	switch err := s.edit(ctx, one, data); {
	case ctx.Err() != nil:
		return ctx.Err()
	case isOfStep(err):
		return err
	case err != nil:
		one.err = fileError(name, err)
		return nil
	}
	if s.call.DryRun && len(one.splices) > 0 {
		return s.show(ctx, one, data)
	}
	return nil
}

// edit runs the script over the content of a file.
func (s *scripting) edit(ctx context.Context, one *scripted, data []byte) error {
	left := s.call.budget()
	bounds := sed.Bounds{Replacements: int(min(left.Matches(), math.MaxInt)), Text: left.Left()}
	stats, err := s.script.Apply(ctx, data, bounds, func(start, end int64, text []byte) error {
		if err := cmp.Or(left.Match(), left.Take(len(text))); err != nil {
			return err
		}
		if !bytes.Equal(data[start:end], text) {
			if err := left.Splice(); err != nil {
				return err
			}
			one.splices = append(one.splices, fsutil.Splice{Off: start, Len: end - start, Text: bytes.Clone(text)})
		}
		return nil
	})
	one.replacements = stats.Replacements
	switch {
	case errors.Is(err, sed.ErrReplacements):
		return left.TooMany()
	case errors.Is(err, sed.ErrText):
		return left.TooMuch()
	case err != nil:
		return err
	}
	return left.Spend()
}

// show makes the preview of a file.
func (s *scripting) show(ctx context.Context, one *scripted, data []byte) error {
	after, err := fsutil.ApplySplices(data, one.splices)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	shown := io.MultiWriter(s.shown, &b)
	if _, err := textdiff.Unified(ctx, shown, "Original", "Modified", data, after, textdiff.DefaultContext); err != nil {
		return err
	}
	one.preview = b.String()
	return nil
}

// write makes the edits of all files that have any, and returns the outcome.
func (s *scripting) write(ctx context.Context) (Outcome, error) {
	out := Outcome{Counts: map[string]int{}}
	for i := range s.done {
		one := &s.done[i]
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		if one.err == nil && len(one.splices) > 0 {
			one.err = fileError(one.name, s.call.FS.Edit(one.name, one.splices))
			if one.err != nil && s.OnError != onErrorContinue {
				return Outcome{Reports: s.reports()}, one.err
			}
		}
		switch {
		case one.err != nil:
			s.call.Warnf("%v; left as it was", one.err)
		case len(one.splices) > 0:
			edits := max(one.replacements, 1)
			out.Files = append(out.Files, one.name)
			out.Counts[one.name] = edits
			out.Edits += edits
		}
	}
	if len(s.done) > 0 && len(out.Files) == 0 && !s.failed() {
		s.call.Warnf("the script changes nothing in %d files", len(s.done))
	}
	modified, skipped := len(out.Files), len(s.done)-len(out.Files)
	out.FilesModified, out.FilesSkipped = &modified, &skipped
	out.Reports = s.reports()
	return out, nil
}

// failed reports whether something went wrong with a file, of which there is a warning then.
func (s *scripting) failed() bool {
	return slices.ContainsFunc(s.done, func(one scripted) bool { return one.err != nil })
}

// reports tells of each file that was looked into.
func (s *scripting) reports() []FileReport {
	var list []FileReport
	for i := range s.done {
		one := &s.done[i]
		if one.skipped || one.name == "" {
			continue
		}
		r := FileReport{Path: one.name, Success: one.err == nil}
		if one.err != nil {
			r.Error = reportError(one.err)
		} else {
			r.Replacements = &one.replacements
			if s.call.DryRun {
				would := len(one.splices) > 0
				r.WouldModify, r.Preview = &would, one.preview
			}
		}
		list = append(list, r)
	}
	return list
}
