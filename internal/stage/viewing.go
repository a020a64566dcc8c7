package stage

import (
	"hash/maphash"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// maxKept is the size up to which a buffer for the bytes of files is used again.
const maxKept = 1 << 20

// View calls do with the bytes of a regular file, which are valid until it returns and must not be modified. It is
// [Stage.ReadFileMax] for callers that do not keep them: most files are read into memory that is used again. An error of do is
// returned as it is.
func (s *Stage) View(name string, most int64, do func(data []byte) error) error {
	b, most, err := s.contentAt(name, guard.Read, most)
	if err != nil {
		return pathError("read", name, err)
	}
	var failed error
	err = s.view(b, most, func(data []byte) error {
		failed = do(data)
		return failed
	})
	if failed != nil {
		return failed
	}
	return pathError("read", name, err)
}

// EditBytes is [Stage.Edit] with the splices that find returns for the bytes of the file, of which there may be as many as
// most. They are valid until find returns. It may happen that find is called again, with other bytes, if somebody else has
// written to the file meanwhile. If find returns an error, nothing is staged and EditBytes returns that error as it is.
func (s *Stage) EditBytes(name string, most int64, find func(data []byte) ([]change.Splice, error)) error {
	for {
		b, most, err := s.contentAt(name, guard.Read, most)
		if err != nil {
			return pathError("read", name, err)
		}
		var done bool
		var failed, bad error
		err = s.view(b, most, func(data []byte) error {
			var splices []change.Splice
			if splices, failed = find(data); failed != nil {
				return failed
			}
			done, bad = s.editBytes(name, b, data, splices)
			return bad
		})
		switch {
		case failed != nil:
			return failed
		case bad != nil:
			return pathError("edit", name, bad)
		case err != nil:
			return pathError("read", name, err)
		case done:
			return nil
		}
	}
}

// editBytes gives the file the content that the splices make of the old one, of which data are the bytes.
func (s *Stage) editBytes(name string, old *body, data []byte, splices []change.Splice) (done bool, err error) {
	if len(splices) == 0 {
		return true, nil
	}
	splices = s.ownSplices(splices)
	if _, err := splice.Check(splices, int64(len(data))); err != nil {
		return false, err
	}
	mine := splice.DropIdle(data, splices)
	if len(mine) == 0 {
		return true, nil
	}
	edited, err := s.editedBody(old, data, mine)
	if err != nil {
		return false, err
	}
	return s.replaceBody(name, old, edited, mine)
}

// view calls do with the bytes of a body, see [Stage.View]. core.mu must not be held.
func (c *core) view(b *body, most int64, do func(data []byte) error) error {
	switch {
	case b.plain():
		return c.base.view(b.src, most, do)
	case b.src == nil:
		data, err := c.bytesOf(b, most)
		if err != nil {
			return err
		}
		return do(data)
	}
	if data, ok := c.base.cache.get(b); ok {
		return do(data)
	}
	if b.size > min(most, maxInMemory) {
		return names.ErrTooLarge
	}
	return c.base.view(b.src, maxInMemory, func(old []byte) error {
		buf := c.base.buffer(b.size)
		defer c.base.giveBack(buf)
		data, err := splice.Append((*buf)[:0], old, b.splices)
		if err != nil {
			return err
		}
		return do(data)
	})
}

// view calls do with the bytes of a file of the base.
func (b *baseFs) view(f *fact, most int64, do func(data []byte) error) error {
	if data, ok := b.cache.get(f); ok {
		if int64(len(data)) > most {
			return names.ErrTooLarge // it does not say its size
		}
		return do(data)
	}
	if f.size == 0 || f.size > maxKept {
		data, err := b.read(f, most)
		if err != nil {
			return err
		}
		return do(data)
	}
	if f.size > most {
		return names.ErrTooLarge
	}
	buf := b.buffer(f.size + 1)
	defer b.giveBack(buf)
	data, err := b.readInto((*buf)[:f.size+1], f)
	if err != nil {
		return err
	}
	if b.cache.hasRoom(f.size) {
		b.cache.put(f, slices.Clone(data))
	}
	return do(data)
}

// readInto reads the file into buf, which has room for a byte more than it should have.
func (b *baseFs) readInto(buf []byte, f *fact) ([]byte, error) {
	file, err := b.open(f)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	n, _, err := handle.ReadHead(file, buf)
	switch {
	case err != nil:
		return nil, err
	case int64(n) != f.size:
		return nil, names.ErrDrift
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return buf[:n], f.check(maphash.Bytes(b.seed, buf[:n]))
}

// buffer returns one of at least that size, to be given back.
func (b *baseFs) buffer(size int64) *[]byte {
	buf, ok := b.buffers.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	if int64(cap(*buf)) < size || cap(*buf) == 0 {
		*buf = make([]byte, max((size+4<<10)&^(4<<10-1), 2*int64(cap(*buf))))
	}
	*buf = (*buf)[:cap(*buf)]
	return buf
}

func (b *baseFs) giveBack(buf *[]byte) {
	if cap(*buf) <= 2*maxKept {
		b.buffers.Put(buf)
	}
}

// plainFileOpener opens a regular file of the canonical name unless that leads through a symbolic link.
type plainFileOpener interface {
	OpenPlainFile(clean string) (handle.RandomFile, error)
}
