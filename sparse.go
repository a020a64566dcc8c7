package millrace

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// sparseFrom is the size of both sides of a change together from which on they are not held as a whole, in bytes, if
// the change is one of splices.
const sparseFrom = 8 << 20

// isLarge reports whether a change is one of a large file.
func isLarge(c fsutil.Change) bool {
	return c.Old.Kind == fsutil.File && c.New.Kind == fsutil.File && c.Old.Size+c.New.Size >= sparseFrom
}

// isEditedLarge reports whether a change is one of splices in a large file.
func isEditedLarge(c fsutil.Change) bool { return c.Splices != nil && isLarge(c) }

// sparse is an edited file that is read only around its edits.
type sparse struct {
	change   fsutil.Change
	file     io.Closer
	old, new io.ReaderAt
	limit    int64
}

// openSparse opens a large edited file, to be closed. It returns nil for any other, and for one that can only be read
// from its beginning to its end.
func (p *Plan) openSparse(c fsutil.Change) (*sparse, error) {
	if !isEditedLarge(c) {
		return nil, nil
	}
	if p.stage == nil {
		// It comes from outside: what is shown has to be what would be committed.
		if err := verify(c); err != nil {
			return nil, fmt.Errorf("read %s: %w", c.Path, err)
		}
	}
	size := c.Old.Size
	for _, s := range c.Splices {
		size += int64(len(s.Text)) - s.Len
	}
	if size != c.New.Size {
		return nil, fmt.Errorf("read %s: %w", c.Path, errSplices)
	}
	if int64(int(size)) != size {
		return nil, fmt.Errorf("show %s: %w", c.Path, &actions.LimitError{What: actions.LimitFile, Limit: math.MaxInt, Got: size})
	}
	file, err := c.OpenOld()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.Path, err)
	}
	old, ok := file.(io.ReaderAt)
	if !ok {
		return nil, file.Close()
	}
	s := &sparse{change: c, file: file, old: old, limit: p.tree.x.limits().OutputBytes()}
	if s.new, err = fsutil.SpliceReaderAt(old, c.Old.Size, c.Splices); err != nil {
		s.close()
		return nil, fmt.Errorf("read %s: %w", c.Path, err)
	}
	return s, nil
}

// verify reads the new bytes of a change that checks them itself.
func verify(c fsutil.Change) error {
	r, err := c.OpenNew()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

func (s *sparse) close() { _ = s.file.Close() } // it was only read

// isBinary asks of the beginning of both sides whether the file is binary.
func (s *sparse) isBinary() (bool, error) {
	for _, side := range []io.ReaderAt{s.old, s.new} {
		head := make([]byte, 8<<10)
		n, err := side.ReadAt(head, 0)
		if err != nil && err != io.EOF {
			return false, s.failed(err)
		}
		if fsutil.IsBinary(head[:n]) {
			return true, nil
		}
	}
	return false, nil
}

// hunks returns the places that differ. It reads all of the old side once, to count lines and to see that it is what
// the plan was made from.
func (s *sparse) hunks() ([]textdiff.Hunk, error) {
	c := s.change
	sum := sha256.New()
	list, err := textdiff.Paged{
		Old: s.old, New: s.new, OldSize: int(c.Old.Size), NewSize: int(c.New.Size), Tee: sum, Limit: s.limit,
	}.Hunks(regions(c.Splices), textdiff.DefaultContext)
	if err != nil {
		return nil, s.failed(err)
	}
	if fsutil.Hash(sum.Sum(nil)) != c.Old.Hash {
		return nil, s.failed(fsutil.ErrDrift)
	}
	return list, nil
}

// failed returns an error as those of other files are.
func (s *sparse) failed(err error) error {
	over, tooMuch := errors.AsType[*textdiff.LimitError](err)
	switch {
	case tooMuch:
		return fmt.Errorf("show %s: %w", s.change.Path, &actions.LimitError{What: actions.LimitShown, Limit: over.Limit})
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, fsutil.ErrDrift):
		return &fs.PathError{Op: "read", Path: s.change.Path, Err: fsutil.ErrDrift}
	}
	return fmt.Errorf("read %s: %w", s.change.Path, err)
}

// loadSparse is load for large files of which not all has to be read. It is not done for others.
func (p *Plan) loadSparse(f *textdiff.FilePatch, c fsutil.Change) (done bool, err error) {
	if isLarge(c) && c.Old.Hash == c.New.Hash {
		return true, nil // only the name or the mode changes
	}
	s, err := p.openSparse(c)
	if s == nil || err != nil {
		return false, err
	}
	defer s.close()
	if binary, err := s.isBinary(); binary || err != nil {
		return false, err
	}
	f.Hunks, err = s.hunks()
	f.OldSize, f.NewSize = c.Old.Size, c.New.Size
	return true, err
}

// respliced returns a change with other splices. The error is [fsutil.ErrDrift] if the old bytes are not what it was
// made from.
func respliced(c fsutil.Change, splices []fsutil.Splice) (fsutil.Change, error) {
	openOld := c.OpenOld
	if len(splices) == 0 {
		c.Splices, c.New.Hash, c.New.Size = nil, c.Old.Hash, c.Old.Size
		return c.WithContent(openOld, openOld), nil
	}
	c.Splices = splices
	r, err := openSpliced(openOld, c)
	if err != nil {
		return c, err
	}
	defer r.Close()
	sum := sha256.New()
	if c.New.Size, err = io.Copy(sum, r); err != nil {
		return c, err
	}
	c.New.Hash = fsutil.Hash(sum.Sum(nil))
	made := c
	return c.WithContent(openOld, func() (io.ReadCloser, error) { return openVerified(openOld, made) }), nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// openVerified opens the new bytes of a change that is held as splices. Where the old bytes are not those that the
// change was made from, or the new ones not those it says, the reader gives an error in place of the end.
func openVerified(openOld fsutil.Opener, c fsutil.Change) (io.ReadCloser, error) {
	r, err := openSpliced(openOld, c)
	if err != nil {
		return nil, err
	}
	return readCloser{&summing{r: r, sum: sha256.New(), want: c.New.Hash, bad: errSplices}, r}, nil
}

// openSpliced is openVerified for new bytes whose hash is not known yet.
func openSpliced(openOld fsutil.Opener, c fsutil.Change) (io.ReadCloser, error) {
	file, err := openOld()
	if err != nil {
		return nil, err
	}
	// One byte more than there should be shows that there is too much.
	old := &summing{r: io.LimitReader(file, c.Old.Size+1), sum: sha256.New(), want: c.Old.Hash, bad: fsutil.ErrDrift}
	text, err := fsutil.SpliceReader(old, c.Old.Size, c.Splices)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return readCloser{text, file}, nil
}

var errSplices = errors.New("the splices do not give what the hash says")

// summing is a reader that ends with an error if the hash of what it has read is another one than it should be.
type summing struct {
	r    io.Reader
	sum  hash.Hash
	want fsutil.Hash
	bad  error
}

func (s *summing) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	_, _ = s.sum.Write(p[:n]) // hashes do not fail
	if err == io.EOF && fsutil.Hash(s.sum.Sum(nil)) != s.want {
		err = s.bad
	}
	return n, err
}
