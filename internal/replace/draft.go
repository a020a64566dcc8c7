package replace

import (
	"bufio"
	"bytes"
	"context"
	"hash/maphash"
	"io"
	"math"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// Draft is a text with the splices applied to it so far. It stores them, and the text only if it fits into one window.
// It is a [match.Content] of the present text, and may only be used by one goroutine.
type Draft struct {
	base  match.Content
	sizes match.Sizes
	size  int64
	whole bool // was and now are the text before and after the splices
	was   []byte
	now   []byte
	spare []byte            // memory for the next text
	lists [][]change.Splice // each applies to the result of those before it
}

// NewDraft returns a Draft without splices.
func NewDraft(text match.Content, sizes match.Sizes) (*Draft, error) {
	d := &Draft{base: text, sizes: sizes, size: text.Size()}
	if !sizes.Fit(d.size) {
		return d, nil
	}
	data, err := text.Bytes(math.MaxInt64)
	if err != nil {
		return nil, err
	}
	d.whole, d.was, d.now, d.size = true, data, data, int64(len(data))
	return d, nil
}

// Size implements [match.Content].
func (d *Draft) Size() int64 { return d.size }

// Bytes implements [match.Content].
func (d *Draft) Bytes(most int64) ([]byte, error) {
	switch {
	case d.whole:
		return d.now, nil
	case len(d.lists) == 0:
		return d.base.Bytes(most)
	case d.size > min(most, math.MaxInt):
		return nil, names.ErrTooLarge
	}
	r, err := d.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, d.size)
	_, err = io.ReadFull(r, data)
	return data, err
}

// Open implements [match.Content].
func (d *Draft) Open() (io.ReadCloser, error) {
	if d.whole {
		return match.Bytes(d.now).Open()
	}
	base, err := d.base.Open()
	if err != nil || len(d.lists) == 0 {
		return base, err
	}
	r := io.Reader(bufio.NewReaderSize(base, 64<<10))
	for _, list := range d.lists {
		r = splice.Splicing(r, list)
	}
	return struct {
		io.Reader
		io.Closer
	}{r, base}, nil
}

// Add applies splices to the present text.
func (d *Draft) Add(list []change.Splice) (err error) {
	if len(list) == 0 {
		return nil
	}
	if d.size, err = splice.Check(list, d.size); err != nil {
		return err
	}
	if d.whole {
		old := d.now
		if d.now, err = splice.Append(d.spare[:0], old, list); len(d.lists) > 0 {
			d.spare = old // not the original text
		}
	}
	// Lists are composed with lists of similar size, so that thousands of small lists do not each go through the whole
	// list.
	d.lists = append(d.lists, list)
	for n := len(d.lists); n > 1 && len(d.lists[n-2]) <= 2*len(d.lists[n-1]) && err == nil; n = len(d.lists) {
		err = d.compose()
	}
	return err
}

func (d *Draft) compose() error {
	n := len(d.lists)
	both, err := splice.Compose(d.lists[n-2], d.lists[n-1])
	d.lists = append(d.lists[:n-2], both)
	return err
}

// Splices returns one list with the effect of all splices, relative to the original text. After that, no more can be
// added.
func (d *Draft) Splices() ([]change.Splice, error) {
	for len(d.lists) > 1 {
		if err := d.compose(); err != nil {
			return nil, err
		}
	}
	if len(d.lists) == 0 {
		return nil, nil
	}
	return d.lists[0], nil
}

// Same reports whether the splices leave the text unchanged.
func (d *Draft) Same(ctx context.Context) (bool, error) {
	if d.whole || d.size != d.base.Size() {
		return d.whole && bytes.Equal(d.was, d.now), nil
	}
	seed := maphash.MakeSeed()
	sum := func(text match.Content) (uint64, error) {
		var h maphash.Hash
		h.SetSeed(seed)
		// hashes do not fail
		err := match.Pass(ctx, text, d.sizes, func(part []byte) bool { _, _ = h.Write(part); return true })
		return h.Sum64(), err
	}
	before, err := sum(d.base)
	if err != nil {
		return false, err
	}
	after, err := sum(d)
	return before == after, err
}

// Changing returns the splices, relative to the present text, without those that do not change its bytes.
func (d *Draft) Changing(list []change.Splice) ([]change.Splice, error) {
	if !slices.ContainsFunc(list, func(s change.Splice) bool { return s.Len == int64(len(s.Text)) }) {
		return list, nil
	}
	r, err := d.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	ahead, pos := bufio.NewReader(r), int64(0)
	return splice.Changing(func(off int64, n int) ([]byte, error) {
		_, err := io.CopyN(io.Discard, ahead, off-pos)
		old := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(ahead, old)
		}
		pos = off + int64(n)
		return old, err
	}, list)
}
