package actions

import (
	"bufio"
	"context"
	"io"
	"math"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/lineedit"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/stage"
)

// look calls do with the content of a file of at most that many bytes, which is valid until do returns. A refusal that
// is not nil is the error for a binary file.
func (c *Call) look(name string, most int64, refusal error, do func(text *source) error) error {
	return c.tooLarge(name, c.stage().View(name, most, func(text *stage.Content) error {
		s := c.source(text, refusal)
		defer c.sources.Put(s)
		return do(s)
	}))
}

// update calls find with the content of a file and makes the splices that find returns. If the file was written to in
// between, find is called again with the new content. If find has read a large file several times, update fails unless
// the bytes were the same. An error of find is returned unchanged, unless the content caused it. An edited file counts
// as staged.
func (c *Call) update(name string, refusal error, find func(text *source) ([]change.Splice, error)) error {
	counted := false
	err := c.stage().Update(name, c.Limits.FileBytes(), func(text *stage.Content) ([]change.Splice, error) {
		s := c.source(text, refusal)
		defer c.sources.Put(s)
		splices, err := find(s)
		if err == nil && len(splices) > 0 && !counted {
			counted, err = true, c.spendPath(workedPath)
		}
		return splices, err
	})
	return c.tooLarge(name, err)
}

func (c *Call) divide(ctx context.Context, text match.Content) (*lineedit.File, error) {
	return lineedit.New(func(do func(part []byte) bool) error { return match.Pass(ctx, text, c.sizes, do) })
}

func (c *Call) hashOf(text match.Content) (change.Hash, error) {
	if file, ok := text.(*source); ok && !c.sizes.Fit(text.Size()) {
		return file.Hash()
	}
	data, err := text.Bytes(math.MaxInt64)
	return change.HashOf(data), err
}

// source is the content of a file that a call works on. It counts the bytes at the first reading.
type source struct {
	*stage.Content
	c       *Call
	refusal error // of binary content; nil if binary content is allowed
	seen    bool
	ahead   *bufio.Reader // reused memory
}

// source returns a source from the pool, to be put back: another file then needs no new memory.
func (c *Call) source(text *stage.Content, refusal error) *source {
	s, ok := c.sources.Get().(*source)
	if !ok {
		s = new(source)
	}
	*s = source{Content: text, c: c, refusal: refusal, ahead: s.ahead}
	return s
}

// Bytes implements [match.Content]. It may refuse a binary file.
func (s *source) Bytes(most int64) ([]byte, error) {
	data, err := s.Content.Bytes(most)
	if err != nil {
		return nil, err
	}
	return data, s.see(data, true)
}

// see checks the first bytes of the content, which may be all that will be read.
func (s *source) see(head []byte, all bool) error {
	if s.seen {
		return nil
	}
	s.seen = true
	if all {
		s.c.read(len(head))
	}
	return refuseBinary(s.refusal, head)
}

// Open implements [match.Content]. It may refuse a binary file.
func (s *source) Open() (io.ReadCloser, error) {
	r, err := s.Content.Open()
	if err != nil || s.seen {
		return r, err
	}
	if s.ahead == nil {
		s.ahead = bufio.NewReaderSize(nil, 8<<10)
	}
	s.ahead.Reset(telling{r, s.c})
	head, err := s.ahead.Peek(8 << 10)
	if err == nil || err == io.EOF {
		err = s.see(head, false)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{s.ahead, r}, nil
}

type telling struct {
	r io.Reader
	c *Call
}

func (t telling) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.c.read(n)
	return n, err
}
