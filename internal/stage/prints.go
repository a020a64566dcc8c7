package stage

import (
	"encoding/binary"
	"io/fs"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// PrintIn returns a print of an entry of a listing of the stage: an unchanged entry has the same print at any time, in
// other runs too. info is from the listing. certain is false for a file that was changed a moment ago: it can be
// changed once more and keep its print, so [Stage.HashOf] must be compared too.
func (s *Stage) PrintIn(name string, info fs.FileInfo) (print []byte, certain bool, err error) {
	clean, _, err := s.begin(name, guard.Look)
	if err != nil {
		return nil, false, err
	}
	var e ent
	if _, own := info.(fileInfo); !own && modes.KindOf(info.Mode()) != change.Symlink && s.untouched(clean) {
		e.f, err = s.core.base.newFact(clean, info)
	} else {
		var p place
		p, err = s.lookUp(name, false, guard.Look)
		e = p.ent
	}
	if err == nil {
		print, certain, err = s.printOf(e)
	}
	return print, certain, names.PathError("look at", name, err)
}

// printOf returns the print of an existing entry.
func (c *core) printOf(e ent) (print []byte, certain bool, err error) {
	if e.n == nil {
		return c.printOfFact(e.f, e.f.mode)
	}
	c.mu.RLock()
	kind, mode, target := e.n.kind, e.n.mode, e.n.target
	c.mu.RUnlock()
	if kind != change.File {
		return printBy('s', kind, mode, target), true, nil
	}
	b, err := c.bodyOf(e)
	if err != nil {
		return nil, false, err
	}
	if b.plain() {
		return c.printOfFact(b.src, mode)
	}
	h, err := c.hashOf(b)
	return printBy('h', kind, mode, string(h[:])), true, err
}

// printOfFact returns the print of an entry that is as in the base, except perhaps for its mode.
func (c *core) printOfFact(f *fact, mode fs.FileMode) (print []byte, certain bool, err error) {
	id := f.id
	switch {
	case f.kind != change.File:
		return printBy('s', f.kind, mode, f.target), true, nil
	case id.Ino == 0 || id.CTime == 0: // only its bytes identify it
		h, err := c.hashOf(c.base.keep(f).body())
		return printBy('h', f.kind, mode, string(h[:])), true, err
	}
	print = printBy('i', f.kind, mode, "", int64(id.Dev), int64(id.Ino), id.CTime, f.size, f.mtime.UnixNano())
	return print, isOld(id.CTime, time.Now()), nil
}

// printBy makes a print from the identifying values of an entry.
func printBy(by byte, kind change.Kind, mode fs.FileMode, text string, numbers ...int64) []byte {
	print := binary.AppendUvarint([]byte{by, byte(kind)}, uint64(mode))
	for _, n := range numbers {
		print = binary.AppendVarint(print, n)
	}
	return append(print, text...)
}

// HashOf returns the hash of the bytes of a file, links not followed.
func (s *Stage) HashOf(name string) (h change.Hash, err error) {
	p, err := s.lookUp(name, false, guard.Look)
	if err == nil {
		err = s.guard.Check(p.path, guard.Read)
	}
	var b *body
	if err == nil {
		b, err = s.bodyOf(p.ent)
	}
	if err == nil {
		h, err = s.hashOf(b)
	}
	return h, names.PathError("hash", name, err)
}
