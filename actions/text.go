package actions

import (
	"bufio"
	"io"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/stage"
)

// look calls do with the content of a file, which is valid until do returns. Reading a binary file is the refusal,
// unless that is nil.
func (c *Call) look(name string, refusal error, do func(text match.Content) error) error {
	return c.lookAt(name, c.Limits.FileBytes(), refusal, do)
}

// lookAt is look for a file of at most that many bytes.
func (c *Call) lookAt(name string, most int64, refusal error, do func(text match.Content) error) error {
	return c.tooLarge(name, c.stage().View(name, most, func(text *stage.Content) error {
		s := c.source(text, refusal)
		defer c.sources.Put(s)
		return do(s)
	}))
}

// update makes the splices in a file that find returns for its content. It may happen that find is called again, with
// other content, if somebody else has written to the file meanwhile. An error of find is returned as it is, unless it
// is that of the content.
func (c *Call) update(name string, refusal error, find func(text match.Content) ([]fsutil.Splice, error)) error {
	return c.tooLarge(name, c.stage().Update(name, c.Limits.FileBytes(), func(text *stage.Content) ([]fsutil.Splice, error) {
		s := c.source(text, refusal)
		defer c.sources.Put(s)
		return find(s)
	}))
}

// source is the content of a file that a call works on. The first time that it is read, its bytes are told of.
type source struct {
	*stage.Content
	c       *Call
	refusal error // of binary content; nil if that is allowed
	seen    bool
}

// source returns memory for one, to be given back: a file that was read before costs none.
func (c *Call) source(text *stage.Content, refusal error) *source {
	s, ok := c.sources.Get().(*source)
	if !ok {
		s = new(source)
	}
	*s = source{Content: text, c: c, refusal: refusal}
	return s
}

// Bytes implements [match.Content]. A binary file may be refused.
func (s *source) Bytes(most int64) ([]byte, error) {
	data, err := s.Content.Bytes(most)
	if err != nil {
		return nil, err
	}
	return data, s.see(data, true)
}

// see looks at the first bytes of the content, which may be all that will be read.
func (s *source) see(head []byte, all bool) error {
	if s.seen {
		return nil
	}
	s.seen = true
	if all {
		s.c.read(len(head))
	}
	if s.refusal != nil && fsutil.IsBinary(head) {
		return s.refusal
	}
	return nil
}

// Open implements [match.Content] likewise.
func (s *source) Open() (io.ReadCloser, error) {
	r, err := s.Content.Open()
	if err != nil || s.seen {
		return r, err
	}
	ahead := bufio.NewReaderSize(telling{r, s.c}, 8<<10)
	head, err := ahead.Peek(8 << 10)
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
	}{ahead, r}, nil
}

// telling is a reader that tells of the bytes it reads.
type telling struct {
	r io.Reader
	c *Call
}

func (t telling) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.c.read(n)
	return n, err
}
