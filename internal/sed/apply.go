package sed

import (
	"errors"
	"io"
)

// Apply runs the script over src and gives each change to edit. What it needs beside src is a small multiple of the longest
// line. The error is an [*Error], a [*LineError], or that of edit.
func (s *Script) Apply(src []byte, edit Edit) (Stats, error) {
	r := s.run(edit)
	defer r.close()
	_, err := r.chunk(src, 0, true)
	return r.stats, err
}

// Bytes runs the script over src and returns what becomes of it.
func (s *Script) Bytes(src []byte) ([]byte, Stats, error) {
	var out []byte
	done := int64(0)
	stats, err := s.Apply(src, func(start, end int64, text []byte) error {
		out = append(append(out, src[done:start]...), text...)
		done = end
		return nil
	})
	if err != nil {
		return nil, stats, err
	}
	return append(out, src[done:]...), stats, nil
}

// streamChunk is how much of a stream is read at a time.
const streamChunk = 256 << 10

// Stream runs the script over a stream and gives each change to edit. It needs a small multiple of the longest line, which
// may be as long as Options.MaxLine says.
func (s *Script) Stream(src io.Reader, edit Edit) (Stats, error) {
	r := s.run(edit)
	defer r.close()
	return r.stream(src, nil)
}

// stream reads src, and calls seen with each part of it that is done with.
func (r *runner) stream(src io.Reader, seen func(b []byte) error) (Stats, error) {
	buf := make([]byte, 0, streamChunk)
	base := int64(0)
	for eof := false; !eof; {
		if cap(buf)-len(buf) < streamChunk/2 {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil && !errors.Is(err, io.EOF) {
			return r.stats, err
		}
		eof = err != nil
		if n == 0 && !eof {
			continue
		}
		used, err := r.chunk(buf, base, eof)
		if err == nil && seen != nil {
			err = seen(buf[:used])
		}
		if err != nil {
			return r.stats, err
		}
		base += int64(used)
		buf = buf[:copy(buf, buf[used:])]
		if len(buf) > r.s.maxLine+1 {
			return r.stats, &LineError{r.stats.Lines + 1, r.s.maxLine}
		}
	}
	return r.stats, nil
}

// Copy runs the script over src and writes what becomes of it to dst. It needs as much memory as Stream, and the changes of
// one part of the input.
func (s *Script) Copy(dst io.Writer, src io.Reader) (Stats, error) {
	type change struct {
		start, end int64
		from, to   int
	}
	var changes []change
	var texts []byte
	r := s.run(func(start, end int64, text []byte) error {
		changes = append(changes, change{start, end, len(texts), len(texts) + len(text)})
		texts = append(texts, text...)
		return nil
	})
	defer r.close()
	base := int64(0)
	return r.stream(src, func(b []byte) error {
		done := base
		for _, c := range changes {
			if _, err := dst.Write(b[done-base : c.start-base]); err != nil {
				return err
			}
			if _, err := dst.Write(texts[c.from:c.to]); err != nil {
				return err
			}
			done = c.end
		}
		if _, err := dst.Write(b[done-base:]); err != nil {
			return err
		}
		base += int64(len(b))
		changes, texts = changes[:0], texts[:0]
		return nil
	})
}
