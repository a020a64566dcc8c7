package stage_test

import (
	"io"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/stage"
)

// view calls do with all bytes of a file.
func view(s *stage.Stage, name string, most int64, do func(data []byte) error) error {
	return s.View(name, most, func(text *stage.Content) error {
		data, err := text.Bytes(most)
		if err != nil {
			return err
		}
		return do(data)
	})
}

// editBytes edits a file with the splices that find returns for all its bytes.
func editBytes(s *stage.Stage, name string, most int64, find func(data []byte) ([]change.Splice, error)) error {
	return s.Update(name, most, func(text *stage.Content) ([]change.Splice, error) {
		data, err := text.Bytes(most)
		if err != nil {
			return nil, err
		}
		return find(data)
	})
}

// findSplices reads a file piece by piece and emits its splices.
type findSplices func(r *stream, emit func(change.Splice)) error

// editStream updates a file of any size without holding all of it.
func editStream(s *stage.Stage, name string, find findSplices) error {
	return s.Update(name, 1<<40, func(text *stage.Content) (splices []change.Splice, err error) {
		r := &stream{text: text}
		err = find(r, func(sp change.Splice) { splices = append(splices, sp) })
		if r.now != nil {
			r.now.Close()
		}
		return splices, err
	})
}

// stream reads a content, more than once on request.
type stream struct {
	text *stage.Content
	now  io.ReadCloser
}

func (r *stream) Read(p []byte) (n int, err error) {
	if r.now == nil {
		if r.now, err = r.text.Open(); err != nil {
			return 0, err
		}
	}
	return r.now.Read(p)
}

// rewind reads to the end and goes back to the beginning.
func (r *stream) rewind() error {
	_, err := io.Copy(io.Discard, r)
	if r.now != nil {
		r.now.Close()
		r.now = nil
	}
	return err
}

func readMax(s *stage.Stage, name string, most int64) ([]byte, error) {
	text, err := s.Content(name)
	if err != nil {
		return nil, err
	}
	return text.Bytes(most)
}
