package actions

import (
	"bufio"
	"errors"
	"io"
	"math"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/stage"
)

// look calls do with the content of a file, which is valid until do returns. It holds the whole file unless streams is set. Reading a
// binary file is the refusal, unless that is nil.
func (c *Call) look(name string, streams bool, refusal error, do func(text match.Content) error) error {
	return c.lookAt(name, c.windows(streams), c.Limits.FileBytes(), refusal, do)
}

// lookAt is look for a file of at most that many bytes. One that is larger than those sizes hold as a whole is read anew each time.
func (c *Call) lookAt(name string, sizes match.Sizes, most int64, refusal error, do func(text match.Content) error) error {
	return c.bySize(name, sizes, most, func(most int64) error {
		return c.stage().View(name, most, func(data []byte) error {
			s := c.source(source{data: data, c: c, refusal: refusal})
			defer c.sources.Put(s)
			return do(s)
		})
	}, func(size int64) error {
		return do(&source{size: size, open: func() (io.ReadCloser, error) { return c.FS.Open(name) }, c: c, refusal: refusal})
	})
}

// update makes the splices in a file that find returns for its content. It may happen that find is called again, with other content,
// if somebody else has written to the file meanwhile. It holds the whole file unless streams is set. An error of find is returned as it
// is, unless it is that of the content.
func (c *Call) update(name string, streams bool, refusal error, find func(text match.Content) ([]fsutil.Splice, error)) error {
	return c.bySize(name, c.windows(streams), c.Limits.FileBytes(), func(most int64) error {
		return c.stage().EditBytes(name, most, func(data []byte) ([]fsutil.Splice, error) {
			s := c.source(source{data: data, c: c, refusal: refusal})
			defer c.sources.Put(s)
			return find(s)
		})
	}, func(size int64) error {
		return c.stage().EditStream(name, func(r *stage.Content, emit func(fsutil.Splice)) error {
			again := false
			open := func() (io.ReadCloser, error) {
				if again {
					if err := r.Rewind(); err != nil {
						return nil, err
					}
				}
				again = true
				return io.NopCloser(r), nil
			}
			splices, err := find(&source{size: size, open: open, c: c, refusal: refusal})
			for _, s := range splices {
				emit(s)
			}
			return err
		})
	})
}

// windows are the sizes of windows. Without streams, any file is one.
func (c *Call) windows(streams bool) match.Sizes {
	sizes := c.sizes
	if !streams {
		sizes.Whole = math.MaxInt64
	}
	return sizes
}

// bySize calls whole for a file that is not larger than a window, and stream with its size for a larger one.
func (c *Call) bySize(name string, sizes match.Sizes, most int64, whole, stream func(size int64) error) error {
	if window := sizes.Largest(); window < most {
		err := whole(window)
		if !errors.Is(err, fsutil.ErrTooLarge) {
			return err
		}
		// A file that does not say its size, as in /proc, comes here too.
		if info, err := c.FS.Stat(name); err == nil && info.Size() > window && info.Size() <= most {
			return stream(info.Size())
		}
	}
	return c.tooLarge(name, whole(most))
}

// source is the content of a file that a call works on: bytes, or a file that is not held. The first time that it is read, its bytes
// are told of.
type source struct {
	data []byte
	size int64
	open func() (io.ReadCloser, error) // nil if data is all
	c    *Call
	seen bool

	refusal error // of binary content; nil if that is allowed
}

// source returns memory for one, to be given back: a file that was read before costs none.
func (c *Call) source(of source) *source {
	s, ok := c.sources.Get().(*source)
	if !ok {
		s = new(source)
	}
	*s = of
	return s
}

// Size implements [match.Content].
func (s *source) Size() int64 {
	if s.open == nil {
		return int64(len(s.data))
	}
	return s.size
}

// Bytes implements [match.Content]. A binary file may be refused.
func (s *source) Bytes(most int64) ([]byte, error) {
	switch {
	case s.open == nil:
		return s.data, s.see(s.data, true)
	case s.size > min(most, math.MaxInt32): // an int may have no more
		return nil, fsutil.ErrTooLarge
	}
	r, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, s.size)
	_, err = io.ReadFull(r, data)
	return data, err
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
	if s.open == nil {
		if err := s.see(s.data, true); err != nil {
			return nil, err
		}
		return match.Bytes(s.data).Open()
	}
	r, err := s.open()
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
