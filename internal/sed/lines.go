package sed

import (
	"bytes"
	"io"
	"slices"
)

// window is how much of a text is held, in bytes, unless a line is longer.
const window = 128 << 10

type lines struct {
	src   io.Reader
	buf   []byte
	next  int   // what is before it in buf is done with
	off   int64 // where buf begins in the text
	end   bool  // there is no more to read
	fills int   // counts how often buf became another
}

// line returns the next line with its newline, valid until the next call, and where it begins. It is empty at the end
// of the text. One of more than most bytes may be cut behind them.
func (l *lines) line(most int) (line []byte, at int64, err error) {
	for looked := 0; ; {
		rest := l.buf[l.next:]
		if i := bytes.IndexByte(rest[looked:], '\n'); i >= 0 {
			looked += i
			rest = rest[:looked+1]
		} else {
			looked = len(rest)
		}
		// Whether it is the last line is known with what follows.
		if l.end || l.next+len(rest) < len(l.buf) || looked > most {
			at = l.off + int64(l.next)
			l.next += len(rest)
			return rest, at, nil
		}
		if err := l.fill(); err != nil {
			return nil, 0, err
		}
	}
}

func (l *lines) last() bool { return l.end && l.next == len(l.buf) }

func (l *lines) fill() error {
	l.fills++
	l.off += int64(l.next)
	l.buf = l.buf[:copy(l.buf, l.buf[l.next:])]
	l.next = 0
	if len(l.buf) == cap(l.buf) {
		l.buf = slices.Grow(l.buf, max(window, len(l.buf)))
	}
	for range 100 {
		n, err := l.src.Read(l.buf[len(l.buf):cap(l.buf)])
		l.buf = l.buf[:len(l.buf)+n]
		if err == io.EOF {
			l.end = true
			return nil
		}
		if err != nil || n > 0 {
			return err
		}
	}
	return io.ErrNoProgress
}
