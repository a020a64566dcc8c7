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

// spill is the temporary file a stage puts staged bytes into once it holds too many in memory. It is made when first
// needed, in the directory for temporary files of the system, never in the tree. Bytes are only ever appended: what a
// rollback drops stays until the stage is closed. It is safe for concurrent use.
type spill struct {
	mu     sync.Mutex
	file   *os.File
	end    int64
	closed bool
}

// put appends data and returns where it stands.
func (s *spill) put(data []byte) (int64, error) {
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
			// Without a name nothing is left behind however the process ends. Windows does not remove open files.
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

// spillError says that an error is not about the file that a caller reads or writes, but about this one, and keeps the
// name of this one in the text.
func spillError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("temporary file of the stage: %w", err)
}

// get fills p with the bytes at off.
func (s *spill) get(p []byte, off int64) error {
	s.mu.Lock()
	f, closed := s.file, s.closed
	s.mu.Unlock()
	if closed {
		return fs.ErrClosed
	}
	_, err := f.ReadAt(p, off)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // another process has cut the file off: that is not the end of what was staged
	}
	return spillError(err)
}

// close removes the file. All that was put into it is gone.
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
