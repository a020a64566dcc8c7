package splice

import (
	"bytes"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// reads are buffers for the combined reads of a splicedReader.
var reads sync.Pool // of *[]byte

// splicedReader is the result of [Spliced].
type splicedReader struct {
	base  io.ReaderAt
	parts []splicedPart
	size  int64
}

// splicedPart is a run of bytes from one source: text, or if that is nil, base at off.
type splicedPart struct {
	at   int64 // its offset in the result
	len  int64
	text []byte
	off  int64
}

// Spliced returns a reader of the spliced bytes of base, without holding them all in memory. The splices must be valid
// for [Check].
func Spliced(base io.ReaderAt, baseSize int64, splices []change.Splice) io.ReaderAt {
	r := &splicedReader{base: base, parts: make([]splicedPart, 0, 2*len(splices)+1)}
	add := func(p splicedPart) {
		if p.len > 0 {
			p.at = r.size
			r.parts = append(r.parts, p)
			r.size += p.len
		}
	}
	pos := int64(0)
	for _, s := range splices {
		add(splicedPart{len: s.Off - pos, off: pos})
		add(splicedPart{len: int64(len(s.Text)), text: s.Text})
		pos = s.Off + s.Len
	}
	add(splicedPart{len: baseSize - pos, off: pos})
	return r
}

// ReadAt implements io.ReaderAt.
func (r *splicedReader) ReadAt(p []byte, off int64) (int, error) {
	i := sort.Search(len(r.parts), func(i int) bool { return r.parts[i].at+r.parts[i].len > off })
	base, from := r.base, int64(0)
	if at, size := r.around(i, off, len(p)); size > 0 {
		kept, ok := reads.Get().(*[]byte)
		if !ok {
			kept = new([]byte)
		}
		defer reads.Put(kept)
		*kept = slices.Grow((*kept)[:0], size)[:size]
		// A failure here is repeated by the reads below.
		if n, err := base.ReadAt(*kept, at); err == nil || err == io.EOF {
			base, from = Bytes((*kept)[:n]), at
		}
	}
	n := 0
	for ; n < len(p) && i < len(r.parts); i++ {
		part := r.parts[i]
		skip := off + int64(n) - part.at
		want := p[n:min(int64(len(p)), int64(n)+part.len-skip)]
		if part.text != nil {
			n += copy(want, part.text[skip:])
			continue
		}
		got, err := base.ReadAt(want, part.off+skip-from)
		n += got
		if got < len(want) {
			if err == nil {
				err = io.EOF
			}
			return n, shortBase(err)
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// around returns the range of the base to read at once, for size bytes of the result that begin at off in the part, to
// avoid many short reads. If few reads are needed, or too much would be read, length is 0.
func (r *splicedReader) around(part int, off int64, size int) (from int64, length int) {
	const few, wide = 4, 2 // number of reads, and how many times the wanted bytes may be read
	from, to, many := int64(-1), int64(0), 0
	for end := off + int64(size); part < len(r.parts) && r.parts[part].at < end; part++ {
		if p := r.parts[part]; p.text == nil {
			if from < 0 {
				from = p.off + max(0, off-p.at)
			}
			many, to = many+1, p.off+min(p.len, end-p.at)
		}
	}
	if many <= few || to-from > wide*int64(size) {
		return 0, 0
	}
	return from, int(to - from)
}

// Splicing returns a reader of the spliced bytes of base, in one pass. It reads base to its end, including the bytes
// that splices remove. The splices must be valid for [Check]. If base has fewer bytes than the splices need, reading
// fails with [names.ErrDrift].
func Splicing(base io.Reader, splices []change.Splice) io.Reader {
	return &splicing{base: base, splices: splices}
}

type splicing struct {
	base    io.Reader
	splices []change.Splice // the remaining ones
	pos     int64           // in base
	text    []byte          // the rest of the text of the current splice
}

// Read implements io.Reader.
func (s *splicing) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if len(s.text) > 0 {
			n := copy(p, s.text)
			s.text = s.text[n:]
			return n, nil
		}
		if len(s.splices) == 0 {
			return s.base.Read(p)
		}
		next := s.splices[0]
		if ahead := next.Off - s.pos; ahead > 0 {
			n, err := s.base.Read(p[:min(int64(len(p)), ahead)])
			s.pos += int64(n)
			return n, shortBase(err)
		}
		if _, err := io.CopyN(io.Discard, s.base, next.Len); err != nil {
			return 0, shortBase(err)
		}
		s.pos += next.Len
		s.text, s.splices = next.Text, s.splices[1:]
	}
	return 0, nil
}

// shortBase converts io.EOF to the error for a base that is too short.
func shortBase(err error) error {
	if err == io.EOF {
		return names.ErrDrift
	}
	return err
}

// DropIdle returns the splices without those that do not change the bytes. The splices must have been checked.
func DropIdle(content io.ReaderAt, splices []change.Splice) ([]change.Splice, error) {
	ahead := lookAhead{r: content}
	if data, ok := content.(Bytes); ok {
		ahead.buf = data
	}
	return Changing(ahead.bytes, splices)
}

// Changing is [DropIdle] for bytes that old returns: n bytes at an offset, valid until its next call. Offsets ascend.
func Changing(old func(off int64, n int) ([]byte, error), splices []change.Splice) ([]change.Splice, error) {
	kept := splices[:0:0]
	dropped := false
	for i, sp := range splices {
		idle := sp.Len == 0 && len(sp.Text) == 0
		if int64(len(sp.Text)) == sp.Len && !idle {
			was, err := old(sp.Off, len(sp.Text))
			if err != nil {
				return nil, err
			}
			idle = bytes.Equal(was, sp.Text)
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

// lookAhead reads short pieces at ascending offsets, and several of them at once if they are close together.
type lookAhead struct {
	r   io.ReaderAt
	buf []byte // the bytes at off
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

// Bytes are bytes with random access; [DropIdle] uses them without a copy.
type Bytes []byte

// ReadAt implements io.ReaderAt.
func (b Bytes) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(b).ReadAt(p, off) }
