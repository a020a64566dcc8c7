// Package preview shows changes of files before they are made, and can remove some of them.
//
// A [View] reads the two sides of a change as texts: whole, or, for edits of a large file, only around the splices.
// With package textdiff it turns them into the patch of a list of changes ([View.WriteDiff]) and the hunks of a file
// ([View.File]). Each run of changed lines is linked to its splices. So a [Hunk] names its author, its lines mark the
// changed bytes ([Hunk.Lines]), and a [Revision] makes the change without some hunks or with other text in their place.
// [Without] removes whole files from a list of changes.
package preview

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// View reads changes to show them. Its methods are safe for concurrent use if Tree is.
type View struct {
	Limits actions.Limits
	// Tree opens a file of the tree before the change.
	Tree func(name string) (io.ReadCloser, error)
	// Unsure means that the changes come from outside: the shown text must be exactly the text that would be committed.
	Unsure bool
}

// pagedFrom is the minimum size, of both sides of a change with splices in bytes, at which they are not held in memory
// as a whole.
const pagedFrom = 8 << 20

// sides are the states of a path before and after a change. Only files and symbolic links have a text; for anything
// else it is empty.
type sides struct {
	path             string // of the change
	old, new         change.State
	openOld, openNew backing.Opener
	splices          []change.Splice // nil if the new side is not made by splices
}

// texts are the texts of both sides, with a function to close them.
type texts struct {
	old, new textdiff.Source
	binary   bool
	close    func()
}

// open reads both sides. The texts of a large binary file may be missing, unless wanted is set.
func (v View) open(s sides, wanted bool) (texts, error) {
	if s.old.Kind == change.File && s.new.Kind == change.File && s.old.Hash == s.new.Hash {
		// Only the name or the mode changes.
		return texts{textdiff.Bytes(nil), textdiff.Bytes(nil), false, func() {}}, nil
	}
	if s.splices != nil && s.old.Size+s.new.Size >= pagedFrom {
		t, err := v.openPaged(s)
		if err != nil || t.old != nil && !(t.binary && wanted) {
			return t, err
		}
		t.close()
	}
	return v.openWhole(s)
}

// openPaged opens an edited file so that it is read only around its edits, and once as a whole, to count lines and to
// check that it is the base of the change. A file without random access has no texts.
func (v View) openPaged(s sides) (texts, error) {
	t := texts{close: func() {}}
	if v.Unsure {
		if err := drain(s.openNew); err != nil {
			return t, fmt.Errorf("read %s: %w", s.path, err)
		}
	}
	size, err := splice.Check(s.splices, s.old.Size)
	if err == nil && size != s.new.Size {
		err = errSplices
	}
	if err != nil {
		return t, s.failed(err)
	}
	if most := max(size, s.old.Size); int64(int(most)) != most {
		err := &actions.LimitError{What: kinds.LimitFile, Limit: math.MaxInt, Got: most}
		return t, fmt.Errorf("show %s: %w", s.path, err)
	}
	file, err := s.openOld()
	if err != nil {
		return t, fmt.Errorf("read %s: %w", s.path, err)
	}
	t.close = func() { _ = file.Close() } // it is only read
	old, ok := file.(io.ReaderAt)
	if !ok {
		return t, nil
	}
	t.old, t.new = textdiff.Paged{
		Old: old, New: splice.Spliced(old, s.old.Size, s.splices), OldSize: int(s.old.Size), NewSize: int(size),
		Tee: checked{sha256.New(), s.old.Hash}, Limit: v.Limits.OutputBytes(),
	}.Texts()
	if t.binary, err = textdiff.IsBinary(t.old, t.new); err != nil {
		t.close()
		return t, s.failed(err)
	}
	return t, nil
}

// drain reads all new bytes of a change whose reader checks them.
func drain(open backing.Opener) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

func (v View) openWhole(s sides) (texts, error) {
	if err := CheckSizes(v.Limits, s.old, s.new); err != nil {
		return texts{}, fmt.Errorf("show %s: %w", s.path, err)
	}
	old, err := content(s.old, s.openOld)
	if err == nil && s.old.Kind == change.File && change.HashOf(old) != s.old.Hash {
		err = names.ErrDrift
	}
	var new []byte
	switch {
	case err != nil:
	case s.splices == nil:
		new, err = content(s.new, s.openNew)
	default:
		new, err = splice.Apply(old, s.splices)
		if err == nil && v.Unsure && (change.HashOf(new) != s.new.Hash || int64(len(new)) != s.new.Size) {
			err = errSplices
		}
	}
	if err != nil {
		return texts{}, s.failed(err)
	}
	t := texts{old: textdiff.Bytes(old), new: textdiff.Bytes(new), close: func() {}}
	t.binary, err = textdiff.IsBinary(t.old, t.new)
	return t, err
}

func content(s change.State, open backing.Opener) ([]byte, error) {
	switch s.Kind {
	case change.File:
		return ReadAll(open, s.Size)
	case change.Symlink:
		return []byte(s.Target), nil
	default:
		return nil, nil
	}
}

// ReadAll reads a file of that expected size. From a larger file it reads one byte more, so that its hash differs.
func ReadAll(open backing.Opener, size int64) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, size+1))
}

// failed returns the error of a side that cannot be read or shown.
func (s sides) failed(err error) error {
	over, tooMuch := errors.AsType[*textdiff.LimitError](err)
	switch {
	case tooMuch:
		return fmt.Errorf("show %s: %w", s.path, &actions.LimitError{What: kinds.LimitShown, Limit: over.Limit})
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, names.ErrDrift):
		return &fs.PathError{Op: "read", Path: s.path, Err: names.ErrDrift}
	}
	return fmt.Errorf("read %s: %w", s.path, err)
}

// CheckSizes returns an *actions.LimitError for a change if one side is too large to be shown or stored as a whole. The
// old side must keep the limit on files that are read; the new side may be larger, because text was added.
func CheckSizes(l actions.Limits, before, after change.State) error {
	most, more := l.FileBytes(), l.OutputBytes()
	if before.Kind == change.File && before.Size > most {
		return &actions.LimitError{What: kinds.LimitFile, Limit: most, Got: before.Size}
	}
	most += min(more, math.MaxInt64-most)
	if after.Kind == change.File && after.Size > most {
		return &actions.LimitError{What: kinds.LimitFile, Limit: most, Got: after.Size}
	}
	return nil
}
