package splice

import (
	"bytes"
	"io"

	"github.com/millrace-go/millrace/change"
)

// DropIdle returns the splices without those that leave the bytes as they are. They have been checked before.
func DropIdle(content io.ReaderAt, splices []change.Splice) ([]change.Splice, error) {
	ahead := lookAhead{r: content}
	if data, ok := content.(Bytes); ok {
		ahead.buf = data
	}
	kept := splices[:0:0]
	dropped := false
	for i, sp := range splices {
		idle := sp.Len == 0 && len(sp.Text) == 0
		if int64(len(sp.Text)) == sp.Len && !idle {
			old, err := ahead.bytes(sp.Off, len(sp.Text))
			if err != nil {
				return nil, err
			}
			idle = bytes.Equal(old, sp.Text)
		}
		if idle && !dropped {
			kept, dropped = append(kept, splices[:i]...), true
		}
		if !idle && dropped {
			kept = append(kept, sp)
		}
	}
	if !dropped {
		return splices, nil
	}
	return kept, nil
}

// lookAhead reads short pieces at ascending offsets, several of them at once where they are close together.
type lookAhead struct {
	r   io.ReaderAt
	buf []byte // what stands at off
	off int64
}

// bytes returns n bytes at an offset, valid until the next call.
func (l *lookAhead) bytes(off int64, n int) ([]byte, error) {
	const ahead = 16 << 10
	if at := off - l.off; at >= 0 && at+int64(n) <= int64(len(l.buf)) {
		return l.buf[at : at+int64(n)], nil
	}
	if cap(l.buf) < n {
		l.buf = make([]byte, max(n, ahead))
	}
	got, err := l.r.ReadAt(l.buf[:cap(l.buf)], off)
	l.buf, l.off = l.buf[:got], off
	if got >= n {
		return l.buf[:n], nil
	}
	return nil, shortBase(err)
}

// Bytes are read at any place. Unlike a bytes.Reader it has no state.
type Bytes []byte

// ReadAt implements io.ReaderAt.
func (b Bytes) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
