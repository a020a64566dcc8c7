package sed

import (
	"bytes"
	"io"
	"slices"
)

// window is how many bytes of a text are in memory, unless a line is longer.
const window = 128 << 10

type lines struct {
	src   io.Reader
	buf   []byte
	first int   // offset in buf of the held lines
	next  int   // buf before next was read
	off   int64 // offset of buf in the text
	end   bool  // everything was read
	fills int   // counts how often buf has changed
}

// hold releases the lines read so far, and holds the lines that are read from now on, up to the next call.
func (l *lines) hold() { l.first = l.next }

// held returns the held lines, valid until the next line is read.
func (l *lines) held() []byte { return l.buf[l.first:l.next] }

// start returns the offset of the held lines in the text.
func (l *lines) start() int64 { return l.off + int64(l.first) }

// line returns the next line with its newline, valid until the next call. It is empty at the end of the text. A line
// longer than most bytes may be cut there.
func (l *lines) line(most int) ([]byte, error) {
	for looked := 0; ; {
		rest := l.buf[l.next:]
		if i := bytes.IndexByte(rest[looked:], '\n'); i >= 0 {
			looked += i
			rest = rest[:looked+1]
		} else {
			looked = len(rest)
		}
		// Only the text after it shows if it is the last line.
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
