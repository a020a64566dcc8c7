package handle

import (
	"errors"
	"io"

	"github.com/millrace-go/millrace/capability"
)

// sized is a file that has the size at its opening, which saves a check for more bytes. Zero means unknown: files
// in /proc have that size.
type sized interface{ SizeAtOpen() int64 }

// ReadHead reads a file that was just opened until buf is full or the file ends. whole reports whether the end was
// reached; if finding that out would need another read, it is false. It makes one system call less than io.ReadFull,
// which matters for many small files.
func ReadHead(f capability.ReadFile, buf []byte) (n int, whole bool, err error) {
	return ReadOn(f, buf, 0)
}

// ReadOn is ReadHead for a file whose first from bytes are already in buf. n is the number of further bytes.
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
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // a MemMapFs returns the latter
			return n, true, nil
		case err != nil:
			return n, false, err
		case int64(from+n) == size:
			return n, true, nil
		}
	}
	return n, int64(from+n) == size && from+n > 0, nil
}
