package scratch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// mostCompared is the largest size in bytes of a file that is compared line by line. A larger file is staged as a
// whole.
const mostCompared = 16 << 20

// edit writes the new bytes of an existing file. In a text it writes only the lines that differ, so that the other
// lines stay attributed to earlier steps.
func (s *staging) edit(c *Change) error {
	if c.Size > mostCompared {
		return s.replace(c)
	}
	data, err := readAll(c)
	if err != nil {
		return err
	}
	whole, regions, fresh := false, 0, int64(0)
	err = s.view.Update(c.Path, mostCompared, func(t *stage.Content) ([]change.Splice, error) {
		old, err := t.Bytes(mostCompared)
		if err != nil {
			return nil, err
		}
		whole, regions, fresh = false, 0, 0
		if bytes.Equal(old, data) {
			return nil, nil
		}
		a, b := textdiff.Bytes(old), textdiff.Bytes(data)
		if whole, err = textdiff.IsBinary(a, b); err != nil || whole {
			return nil, err
		}
		splices, err := splicesOf(a, b)
		regions = len(splices)
		for _, splice := range splices {
			fresh += int64(len(splice.Text))
		}
		return splices, err
	})
	switch {
	case errors.Is(err, names.ErrTooLarge) || err == nil && whole:
		return s.replace(c)
	case err == nil && regions > 0:
		s.files[c.Path] = true
		s.count(c, regions, fresh)
	}
	return err
}

// splicesOf returns the splices from one text to another, one for each run of lines that differ.
func splicesOf(old, text textdiff.Bytes) ([]change.Splice, error) {
	hunks, err := textdiff.Hunks(old, text, nil, 0)
	if err != nil {
		return nil, err
	}
	var splices []change.Splice
	for _, h := range hunks {
		for _, core := range h.Cores {
			splices = append(splices, change.Splice{
				Off: int64(core.Old), Len: int64(core.OldEnd - core.Old), Text: text[core.New:core.NewEnd],
			})
		}
	}
	return splices, nil
}

// replace writes a file as a whole.
func (s *staging) replace(c *Change) error {
	s.files[c.Path] = true
	s.count(c, 1, c.Size)
	return s.write(c, os.O_WRONLY|os.O_TRUNC)
}

// write writes the bytes of a change to a file of the view.
func (s *staging) write(c *Change, flag int) error {
	for range tries {
		err := s.writeOnce(c, flag)
		if !errors.Is(err, errChanged) {
			return err
		}
		flag = os.O_WRONLY | os.O_TRUNC
	}
	return errRestless(c.Path)
}

func (s *staging) writeOnce(c *Change, flag int) (err error) {
	from, err := c.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := s.view.OpenFile(c.Path, flag, c.Mode&permBits|0o200)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	buf := make([]byte, 64<<10)
	for {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		n, end := from.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case end == io.EOF:
			return nil
		case errors.Is(end, names.ErrDrift):
			return errChanged
		case end != nil:
			return end
		}
	}
}

// readAll returns the bytes of a change that is not too large to be compared.
func readAll(c *Change) ([]byte, error) {
	for range tries {
		r, err := c.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(r, mostCompared+1))
		err = errors.Join(err, r.Close())
		if err == nil && len(data) > mostCompared {
			return nil, fmt.Errorf("%s: %w", c.Path, names.ErrTooLarge)
		}
		if !errors.Is(err, names.ErrDrift) {
			return data, err
		}
	}
	return nil, errRestless(c.Path)
}
