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

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/replace"
	"github.com/millrace-go/millrace/internal/sed"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/textdiff"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// Run implements [Action].
func (p PatternReplace) Run(ctx context.Context, c *Call) (Outcome, error) {
	for _, text := range p.SedPattern {
		if err := c.Limits.checkPattern(text); err != nil {
			return Outcome{}, err
		}
	}
	s := &scripting{PatternReplace: p, call: c, shown: c.Limits.shown()}
	if kept, ok := c.Kept.(*keptScript); ok && kept.key == p.scriptKey() {
		s.script = kept.script
	} else {
		var err error
		if s.script, err = p.script(); err != nil {
			param := wording.Part{Kind: kinds.Param, Text: "sed_pattern", Value: "sed_pattern"}
			return Outcome{}, worded.Errorf("%v: %w", param, err)
		}
	}
	dir := cmp.Or(p.Directory, ".")
	files, err := p.files(ctx, c, dir)
	if err != nil {
		return Outcome{}, walkError(dir, err)
	}
	switch {
	case len(files) > 0:
	case p.FilePattern == "":
		c.Warnf("there are no files to edit")
	default:
		pattern := quoted(p.FilePattern)
		c.Warnf("there is no file below %s that %v takes", dir,
			wording.Part{Kind: kinds.FilePattern, Value: pattern, Text: "file_pattern " + pattern})
	}
	done := make([]scripted, len(files))
	failed, err := c.try(ctx, files, true, func(ctx context.Context, i int, name string) error {
		return s.file(ctx, name, &done[i])
	})
	if err != nil {
		return Outcome{}, err
	}
	return s.outcome(files, done, failed)
}

// scripting is a run of a script over many files.
type scripting struct {
	PatternReplace
	script *sed.Script
	call   *Call
	shown  *showing
}

// scripted is the result of the script for one file.
type scripted struct {
	skipped      bool // it looks binary
	changed      bool
	replacements int
	preview      string
}

// errChanges ends a run of the script that has found a change.
var errChanges = errors.New("there is something to change")

// file edits a file, unless it does not change or looks binary. It is read up to the first change before the edit
// begins, so that no fingerprint and hash are computed for an unchanged file.
func (s *scripting) file(ctx context.Context, name string, one *scripted) error {
	c, left := s.call, s.call.budget()
	err := c.look(name, c.Limits.FileBytes(), unlessBinary(s.Binary), func(text *source) error {
		return s.run(ctx, one, text, left, func(change.Splice) error { return errChanges })
	})
	switch {
	case errors.Is(err, errChanges):
	case errors.Is(err, ErrBinary):
		one.skipped = true
		return nil
	default:
		return err
	}
	return c.update(name, nil, func(text *source) (splices []change.Splice, err error) {
		left.Restart()
		err = s.run(ctx, one, text, left, func(sp change.Splice) error {
			splices = append(splices, sp)
			return left.Splice()
		})
		one.changed = len(splices) > 0
		if err == nil {
			err = left.Spend()
		}
		if err == nil && one.changed && s.OnError == onErrorContinue {
			err = c.protected(name)
		}
		if err == nil && one.changed && c.DryRun {
			one.preview, err = s.show(ctx, name, text.Size(), splices)
		}
		return splices, err
	})
}

// run runs the script over the content of a file and calls emit for each change.
func (s *scripting) run(
	ctx context.Context, one *scripted, text *source, left *replace.Budget, emit func(change.Splice) error,
) error {
	src, err := text.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	matches, room := left.Left()
	bounds := sed.Bounds{Replacements: int(min(matches, math.MaxInt)), Text: room}
	stats, err := s.script.Apply(ctx, src, bounds, func(start, end int64, text []byte) error {
		if err := cmp.Or(left.Match(), left.Take(len(text))); err != nil {
			return err
		}
		return emit(change.Splice{Off: start, Len: end - start, Text: bytes.Clone(text)})
	})
	one.replacements = stats.Replacements
	switch {
	case errors.Is(err, sed.ErrReplacements):
		return left.TooMany
	case errors.Is(err, sed.ErrText):
		return left.TooMuch
	}
	return err
}

// show returns the preview of the splices of a file with that size.
func (s *scripting) show(ctx context.Context, name string, size int64, splices []change.Splice) (string, error) {
	f, err := s.call.FS.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	after, err := splice.Check(splices, size)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	shown := io.MultiWriter(s.shown, &b)
	const page = 16 << 10
	paged := textdiff.Paged{
		Old: f, OldSize: int(size), New: splice.Spliced(f, size, splices), NewSize: int(after),
		Limit: s.call.Limits.ShownBytes(), Page: int(min(page, max(size, after, 1))),
	}
	from, to := paged.Texts()
	_, err = textdiff.Unified(ctx, shown, "Original", "Modified", from, to, splices, textdiff.DefaultContext)
	if _, ok := errors.AsType[*textdiff.LimitError](err); ok {
		return "", &LimitError{What: kinds.LimitShown, Limit: s.call.Limits.ShownBytes()}
	}
	return b.String(), err
}

// outcome returns the results of the files, and warns of unchanged files.
func (s *scripting) outcome(files []string, done []scripted, failed []error) (Outcome, error) {
	var reports []FileReport
	for i := range done {
		one, r := &done[i], ReportOf(files[i], failed[i])
		switch {
		case one.skipped:
			continue
		case r.Success:
			r.Replacements = &one.replacements
			if s.call.DryRun {
				r.WouldModify, r.Preview = &one.changed, one.preview
			}
		}
		reports = append(reports, r)
	}
	first := slices.IndexFunc(failed, func(err error) bool { return err != nil })
	if first >= 0 && s.OnError != onErrorContinue {
		return Outcome{Reports: reports}, failed[first]
	}
	out := Outcome{Counts: map[string]int{}, Reports: reports}
	for i, one := range done {
		switch {
		case failed[i] != nil:
			s.call.warnLeft(files[i], "%v; left as it was", failed[i])
		case one.changed:
			out.change(files[i], max(one.replacements, 1))
		}
	}
	var binary []string
	for i, one := range done {
		if one.skipped {
			binary = append(binary, files[i])
		}
	}
	if len(binary) > 0 && s.FilePattern == "" { // a glob leaves out binary files, but these were named
		s.call.Warnf("left out, for they look binary: %s; %v", few(binary),
			wording.Part{Kind: kinds.TakeBinary, Text: "set binary to edit them"})
	}
	if len(done) > len(binary) && len(out.Files) == 0 && first < 0 {
		s.call.Warnf("the script changes nothing in %d files", len(done)-len(binary))
	}
	modified, skipped := len(out.Files), len(done)-len(out.Files)
	out.FilesModified, out.FilesSkipped = &modified, &skipped
	return out, nil
}
