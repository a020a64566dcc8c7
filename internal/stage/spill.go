package stage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// Spill is where a stage writes staged bytes if it holds too many in memory, and where a [Keeper] writes bytes that a
// delta refers to. Bytes are only appended: a rollback removes nothing. It is safe for concurrent use.
type Spill interface {
	io.ReaderAt
	// Append appends all of p and returns its offset.
	Append(p []byte) (off int64, err error)
}

// SetSpill makes the stage write bytes there instead of to a temporary file of its own. Call it before the first use.
// The stage does not close the Spill.
func (s *Stage) SetSpill(to Spill) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spill = to
}

// unspill fills p with the spilled bytes at off.
func (c *core) unspill(p []byte, off int64) error {
	n, err := c.spill.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == io.EOF || err == nil {
		err = io.ErrUnexpectedEOF // another process has truncated the file: this is not the end of the staged bytes
	}
	return err
}

// spill is the temporary file that is a [Spill] by default. It is made when first needed, in the directory for
// temporary files of the system, never in the tree.
type spill struct {
	mu     sync.Mutex
	file   *os.File
	end    int64
	closed bool
}

// Append implements [Spill].
func (s *spill) Append(data []byte) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, fs.ErrClosed
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "millrace-stage-*")
		if err != nil {
			return 0, spillError(err)
		}
		if runtime.GOOS != "windows" {
			// Without a name nothing is left over, however the process ends. Windows does not remove open files.
			if err := os.Remove(f.Name()); err != nil {
				f.Close()
				return 0, spillError(err)
			}
		}
		s.file = f
	}
	off := s.end
	n, err := s.file.WriteAt(data, off)
	if err != nil {
		return 0, spillError(err)
	}
	s.end += int64(n)
	return off, nil
}

// spillError marks an error as an error of the temporary file, not of the file that a caller reads or writes. The text
// keeps the name of the temporary file.
func spillError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("temporary file of the stage: %w", err)
}

// ReadAt implements [io.ReaderAt].
func (s *spill) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	f, closed := s.file, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return 0, fs.ErrClosed
	case f == nil:
		return 0, io.EOF
	}
	n, err := f.ReadAt(p, off)
	if err == io.EOF && n < len(p) {
		err = io.ErrUnexpectedEOF
	}
	return n, spillError(err)
}

// close removes the file and all bytes in it.
func (s *spill) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if runtime.GOOS == "windows" {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
