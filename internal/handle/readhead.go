package handle

import (
	"errors"
	"io"

	"github.com/millrace-go/millrace/capability"
)

// sized is a file that knows how large it was when it was opened, which saves asking whether there is more. Zero says
// nothing: files in /proc have that size.
type sized interface{ SizeAtOpen() int64 }

// ReadHead reads a file that was just opened until buf is full or the file at its end, and reports whether all of it
// was read. That there is more is assumed where it would have to be asked for. It makes one system call less than
// io.ReadFull does, which counts where files are small and many.
func ReadHead(f capability.ReadFile, buf []byte) (n int, whole bool, err error) {
	return ReadOn(f, buf, 0)
}

// ReadOn is ReadHead for a file of which the first bytes are in buf already: so many as from says. n is how many come
// to that.
func ReadOn(f capability.ReadFile, buf []byte, from int) (n int, whole bool, err error) {
	size := int64(0)
	if r, ok := f.(*Reader); ok {
		f = r.ReadFile
	}
	if s, ok := f.(sized); ok {
		size = s.SizeAtOpen()
	}
	for from+n < len(buf) {
		m, err := f.Read(buf[from+n:])
		n += m
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the latter is what a MemMapFs says
			return n, true, nil
		case err != nil:
			return n, false, err
		case int64(from+n) == size:
			return n, true, nil
		}
	}
	return n, int64(from+n) == size && from+n > 0, nil
}
