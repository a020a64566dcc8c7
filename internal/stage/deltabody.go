package stage

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/millrace-go/millrace/change"
)

// body returns the number of a content, and writes the content if it has no number yet. Splices that are also in the
// old content are only counted.
func (w *deltaWriter) body(b, old *body) (int, error) {
	if i, ok := w.bodies.has(b); ok {
		return i, nil
	}
	if b.src == nil {
		return w.paged(b)
	}
	src := w.fact(b.src)
	like, from := 0, []change.Splice(nil)
	if old != nil && old.src == b.src {
		if i, ok := w.bodies.has(old); ok {
			like, from = i+1, old.splices
		}
	}
	head := 0
	for head < len(from) && head < len(b.splices) && sameSplice(from[head], b.splices[head]) {
		head++
	}
	tail := 0
	for tail < len(from)-head && tail < len(b.splices)-head &&
		sameSplice(from[len(from)-1-tail], b.splices[len(b.splices)-1-tail]) {
		tail++
	}
	mine := b.splices[head : len(b.splices)-tail]
	var own form
	var by []change.Origin
	for i, s := range mine {
		own.num64(uint64(s.Off))
		own.num64(uint64(s.Len))
		own.maybe(s.Text)
		if i > 0 && slices.Equal(by, s.By) {
			own.num(0)
			continue
		}
		by = s.By
		own.num(len(by) + 1)
		for _, o := range by {
			w.origin(&own, o)
		}
	}
	p := w.add(partBodies)
	p.num(src + 1)
	p.num(like)
	p.num(head)
	p.num(tail)
	p.num(len(mine))
	p.raw(own.buf)
	return w.bodies.add(b), nil
}

func sameSplice(a, b change.Splice) bool {
	return a.Off == b.Off && a.Len == b.Len && bytes.Equal(a.Text, b.Text) && slices.Equal(a.By, b.By)
}

// paged is body for a content that has pages of its own. The pages are written to the spill.
func (w *deltaWriter) paged(b *body) (int, error) {
	told := make([]int, len(b.pages))
	for i, pg := range b.pages {
		if pg.size() == 0 {
			continue
		}
		n, ok := w.pages.has(pg)
		if !ok {
			var err error
			if n, err = w.page(pg); err != nil {
				return 0, err
			}
		}
		told[i] = n + 1
	}
	p := w.add(partBodies)
	p.num(0)
	p.num64(uint64(b.size))
	for _, n := range told {
		p.num(n)
	}
	return w.bodies.add(b), nil
}

func (w *deltaWriter) page(pg *page) (int, error) {
	data := pg.data
	if pg.spilled > 0 {
		data = make([]byte, pg.spilled)
		if err := w.c.unspill(data, pg.off); err != nil {
			return 0, err
		}
	} else if err := w.c.store(pg); err != nil {
		return 0, err
	}
	sum := sha256.Sum256(data)
	p := w.add(partPages)
	p.num64(uint64(pg.off))
	p.num(len(data))
	p.raw(sum[:])
	return w.pages.add(pg), nil
}
