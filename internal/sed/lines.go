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
	first int   // where the lines begin in buf that are held
	next  int   // what is before it in buf was read
	off   int64 // where buf begins in the text
	end   bool  // everything was read
	fills int   // counts how often buf became another
}

// hold lets go of the lines read so far, and keeps those that are read from now on, up to the next call.
func (l *lines) hold() { l.first = l.next }

// held returns the lines that are held, valid until the next line is read.
func (l *lines) held() []byte { return l.buf[l.first:l.next] }

// start returns where the lines that are held begin in the text.
func (l *lines) start() int64 { return l.off + int64(l.first) }

// line returns the next line with its newline, valid until the next call. It is empty at the end of the text. A line
// of more than most bytes may be cut after them.
func (l *lines) line(most int) ([]byte, error) {
	for looked := 0; ; {
		rest := l.buf[l.next:]
		if i := bytes.IndexByte(rest[looked:], '\n'); i >= 0 {
			looked += i
			rest = rest[:looked+1]
		} else {
			looked = len(rest)
		}
		// The text that follows shows if it is the last line.
		if l.end || l.next+len(rest) < len(l.buf) || looked > most {
			l.next += len(rest)
			return rest, nil
		}
		if err := l.fill(); err != nil {
			return nil, err
		}
	}
}

func (l *lines) last() bool { return l.end && l.next == len(l.buf) }

func (l *lines) fill() error {
	l.fills++
	l.off += int64(l.first)
	l.buf = l.buf[:copy(l.buf, l.buf[l.first:])]
	l.next, l.first = l.next-l.first, 0
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
