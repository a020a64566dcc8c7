package preview

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

var errSplices = errors.New("the splices do not give what the hash says")

// OpenSpliced opens the new bytes of a change that is stored as splices. If the old bytes are not the bytes that the
// change was made from, or the new ones have another hash, the reader returns an error instead of io.EOF.
func OpenSpliced(openOld backing.Opener, c change.Change) (io.ReadCloser, error) {
	r, err := openSpliced(openOld, c)
	if err != nil {
		return nil, err
	}
	return readCloser{&summing{r: r, sum: checked{sha256.New(), c.New.Hash}, bad: errSplices}, r}, nil
}

// openSpliced is OpenSpliced for new bytes without a known hash.
func openSpliced(openOld backing.Opener, c change.Change) (io.ReadCloser, error) {
	if _, err := splice.Check(c.Splices, c.Old.Size); err != nil {
		return nil, err
	}
	file, err := openOld()
	if err != nil {
		return nil, err
	}
	// One extra byte reveals a file that is too long.
	old := &summing{r: io.LimitReader(file, c.Old.Size+1), sum: checked{sha256.New(), c.Old.Hash}, bad: names.ErrDrift}
	return readCloser{splice.Splicing(old, c.Splices), file}, nil
}

// respliced returns a change with other splices. The error is [fsutil.ErrDrift] if the old bytes are not the bytes that
// the change was made from.
func respliced(c change.Change, splices []change.Splice) (change.Change, error) {
	openOld := c.OpenOld
	if len(splices) == 0 {
		c.Splices, c.New.Hash, c.New.Size = nil, c.Old.Hash, c.Old.Size
		c.SetBytes(openOld, openOld)
		return c, nil
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
	c.New.Hash = change.Hash(sum.Sum(nil))
	made := c
	c.SetBytes(openOld, func() (io.ReadCloser, error) { return OpenSpliced(openOld, made) })
	return c, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// checked is a hash whose Close returns an error if it is not the wanted hash.
type checked struct {
	hash.Hash
	want change.Hash
}

func (c checked) Close() error {
	if change.Hash(c.Sum(nil)) != c.want {
		return names.ErrDrift
	}
	return nil
}

// summing is a reader that ends with an error if the bytes read do not have the wanted hash.
type summing struct {
	r   io.Reader
	sum checked
	bad error
}

func (s *summing) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	_, _ = s.sum.Write(p[:n]) // hashes do not fail
	if err == io.EOF && s.sum.Close() != nil {
		err = s.bad
	}
	return n, err
}
