package splice

import (
	"io"
	"sort"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// NewReaderAt returns a reader of what splices make of the size bytes that base reads, without holding them all. The
// splices have to be such as [Apply] takes.
func NewReaderAt(base io.ReaderAt, size int64, splices []change.Splice) (io.ReaderAt, error) {
	if _, err := Check(splices, size); err != nil {
		return nil, err
	}
	return Spliced(base, size, splices), nil
}

// splicedReader reads what splices make of the bytes that base reads, without holding them all.
type splicedReader struct {
	base  io.ReaderAt
	parts []splicedPart
	size  int64
}

// splicedPart is a run of bytes that come from one place: from text, or if that is nil from base at off.
type splicedPart struct {
	at   int64 // where it starts in the result
	len  int64
	text []byte
	off  int64
}

// Spliced returns a reader over base of baseSize bytes. The splices have been checked before.
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
	base, n := r.around(i, off, len(p)), 0
	for ; n < len(p) && i < len(r.parts); i++ {
		part := r.parts[i]
		skip := off + int64(n) - part.at
		want := p[n:min(int64(len(p)), int64(n)+part.len-skip)]
		if part.text != nil {
			n += copy(want, part.text[skip:])
			continue
		}
		got, err := base.ReadAt(want, part.off+skip)
		n += got
		if got < len(want) {
			if err == nil || err == io.EOF {
				// The base has become shorter than it was.
				err = names.ErrDrift
			}
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// around returns the base to read size bytes of the result from, which begin at off in the part. If that takes many
// short reads it is one longer read that was made already.
func (r *splicedReader) around(part int, off int64, size int) io.ReaderAt {
	const few, wide = 4, 2 // reads, and how many times the bytes wanted may be read
	reads, from, to := 0, int64(-1), int64(0)
	for end := off + int64(size); part < len(r.parts) && r.parts[part].at < end; part++ {
		if p := r.parts[part]; p.text == nil {
			if from < 0 {
				from = p.off + max(0, off-p.at)
			}
			reads, to = reads+1, p.off+min(p.len, end-p.at)
		}
	}
	if reads <= few || to-from > wide*int64(size) {
		return r.base
	}
	data := make([]byte, to-from)
	n, err := r.base.ReadAt(data, from)
	if err != nil && err != io.EOF {
		return r.base // which says so again for what is really wanted
	}
	return &readBefore{data[:n], from}
}

// readBefore has bytes of a base that were read.
type readBefore struct {
	data []byte
	from int64
}

// ReadAt implements io.ReaderAt.
func (r *readBefore) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	if at := off - r.from; at <= int64(len(r.data)) {
		n = copy(p, r.data[at:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// NewReader returns a reader of what splices make of the size bytes that base gives, in one pass. It reads base to its
// end, also what splices take away. The splices have to be such as [Apply] takes; if base turns out to have fewer
// bytes than they are for, reading fails with [names.ErrDrift].
func NewReader(base io.Reader, size int64, splices []change.Splice) (io.Reader, error) {
	if _, err := Check(splices, size); err != nil {
		return nil, err
	}
	return Splicing(base, splices), nil
}

// Splicing is SpliceReader for splices that have been checked before.
func Splicing(base io.Reader, splices []change.Splice) io.Reader {
	return &splicing{base: base, splices: splices}
}

type splicing struct {
	base    io.Reader
	splices []change.Splice // that are left
	pos     int64           // in base
	text    []byte          // what is left of the text of a splice that was passed
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

// shortBase returns the error of reading a base of which more is needed.
func shortBase(err error) error {
	if err == io.EOF {
		return names.ErrDrift
	}
	return err
}
