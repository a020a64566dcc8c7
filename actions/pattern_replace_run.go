package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/replace"
	"github.com/millrace-go/millrace/internal/sed"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/stage"
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
	changed      bool
	replacements int
	preview      string
	err          error
}

// work edits one file. An error is one of the run, not of the file.
func (s *scripting) work(ctx context.Context, i int, name string) error {
	one := &s.done[i]
	one.name = name
	err := s.file(ctx, one)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case isOfStep(err):
		return err
	}
	one.err = fileError(name, err)
	return nil
}

// errChanges ends a run of the script that has found something to change.
var errChanges = errors.New("there is something to change")

// file edits a file, unless the script leaves it as it is or it looks binary. It is read to the first change before
// anything is written, so that a file without one need not be one that may be written.
func (s *scripting) file(ctx context.Context, one *scripted) error {
	f, err := s.call.FS.Open(one.name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if most := s.call.Limits.FileBytes(); info.Size() > most {
		return &LimitError{What: LimitFile, Limit: most, Got: info.Size()}
	}
	head := make([]byte, min(info.Size(), binaryHead))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	if one.skipped = !s.Binary && fsutil.IsBinary(head[:n]); one.skipped {
		return nil
	}
	s.call.read(int(min(info.Size(), math.MaxInt)))
	src := io.MultiReader(bytes.NewReader(head[:n]), f)
	err = s.run(ctx, one, src, s.call.budget(), func(fsutil.Splice) error { return errChanges })
	if err != errChanges { //nolint:errorlint // it comes as it is
		return err
	}
	left := s.call.budget()
	return s.call.stage().Update(one.name, s.call.Limits.FileBytes(), func(content *stage.Content) (splices []fsutil.Splice, err error) {
		text, err := content.Open()
		if err != nil {
			return nil, err
		}
		defer text.Close()
		left.Restart()
		err = s.run(ctx, one, text, left, func(sp fsutil.Splice) error {
			splices = append(splices, sp)
			return left.Splice()
		})
		one.changed = len(splices) > 0
		if err == nil {
			err = left.Spend()
		}
		if err == nil && one.changed && s.call.DryRun {
			one.preview, err = s.show(ctx, f, info.Size(), splices)
		}
		return splices, err
	})
}

// binaryHead is how much of a file is looked at to see whether it is binary, in bytes.
const binaryHead = 8000

// run runs the script over the content of a file and calls emit for each change.
func (s *scripting) run(ctx context.Context, one *scripted, src io.Reader, left *replace.Budget, emit func(fsutil.Splice) error) error {
	bounds := sed.Bounds{Replacements: int(min(left.Matches(), math.MaxInt)), Text: left.Left()}
	stats, err := s.script.Apply(ctx, src, bounds, func(start, end int64, text []byte) error {
		if err := cmp.Or(left.Match(), left.Take(len(text))); err != nil {
			return err
		}
		return emit(fsutil.Splice{Off: start, Len: end - start, Text: bytes.Clone(text)})
	})
	one.replacements = stats.Replacements
	switch {
	case errors.Is(err, sed.ErrReplacements):
		return left.TooMany()
	case errors.Is(err, sed.ErrText):
		return left.TooMuch()
	}
	return err
}

// show makes the preview of what splices make of a file of some size.
func (s *scripting) show(ctx context.Context, f io.ReaderAt, size int64, splices []fsutil.Splice) (string, error) {
	edited, err := splice.NewReaderAt(f, size, splices)
	if err != nil {
		return "", err
	}
	after := size
	for _, sp := range splices {
		after += int64(len(sp.Text)) - sp.Len
	}
	var b strings.Builder
	shown := io.MultiWriter(s.shown, &b)
	const page = 16 << 10
	paged := textdiff.Paged{
		Old: f, OldSize: int(size), New: edited, NewSize: int(after),
		Limit: s.call.Limits.ShownBytes(), Page: int(min(page, max(size, after, 1))),
	}
	from, to := paged.Texts()
	_, err = textdiff.Unified(ctx, shown, "Original", "Modified", from, to, splices, textdiff.DefaultContext)
	if _, ok := errors.AsType[*textdiff.LimitError](err); ok {
		return "", &LimitError{What: LimitShown, Limit: s.call.Limits.ShownBytes()}
	}
	return b.String(), err
}

// outcome tells what became of all files.
func (s *scripting) outcome() Outcome {
	out := Outcome{Counts: map[string]int{}}
	for i := range s.done {
		one := &s.done[i]
		switch {
		case one.err != nil:
			s.call.Warnf("%v; left as it was", one.err)
		case one.changed:
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
	return out
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
				would := one.changed
				r.WouldModify, r.Preview = &would, one.preview
			}
		}
		list = append(list, r)
	}
	return list
}
