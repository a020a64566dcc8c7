package fsutil

import (
	"io"
	"sort"
)

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

// newSplicedReader returns a reader over base of baseSize bytes. The splices have been checked before.
func newSplicedReader(base io.ReaderAt, baseSize int64, splices []Splice) *splicedReader {
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
	n := 0
	for ; n < len(p) && i < len(r.parts); i++ {
		part := r.parts[i]
		skip := off + int64(n) - part.at
		want := p[n:min(int64(len(p)), int64(n)+part.len-skip)]
		if part.text != nil {
			n += copy(want, part.text[skip:])
			continue
		}
		got, err := r.base.ReadAt(want, part.off+skip)
		n += got
		if got < len(want) {
			if err == nil || err == io.EOF {
				// The base has become shorter than it was.
				err = ErrDrift
			}
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
