package scratch

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
)

// A manifest describes a kept tree: a first line with the format, the id of the tree, the number of entries, the
// entries, and the hash of all this. If a file has any other form, the tree is made anew.
const (
	manifestHead = "millrace scratch 1\n"
	newSuffix    = ".new"
	// mostManifest limits the size of a manifest, in bytes: some 200 for each of a million entries.
	mostManifest = 256 << 20
	mostString   = 1 << 16
)

var errManifest = errors.New("not a manifest")

// readManifest returns the entries of the manifest, nil if there are none to trust.
func (t *tree) readManifest() map[string]*entry {
	f, err := handle.OpenFile(t.slot, manifestName)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostManifest+1))
	if err != nil || len(data) > mostManifest {
		return nil
	}
	made, err := t.parseManifest(data)
	if err != nil {
		return nil
	}
	return made
}

func (t *tree) parseManifest(data []byte) (map[string]*entry, error) {
	body := len(data) - sha256.Size
	if body < len(manifestHead)+sha256.Size || !strings.HasPrefix(string(data[:len(manifestHead)]), manifestHead) {
		return nil, errManifest
	}
	if sum := sha256.Sum256(data[:body]); sum != [sha256.Size]byte(data[body:]) {
		return nil, errManifest
	}
	r := &unpacker{data: data[len(manifestHead):body]}
	if [sha256.Size]byte(r.bytes(sha256.Size)) != t.id || r.text() != t.name {
		return nil, errManifest
	}
	n := r.number()
	if n > uint64(len(r.data)) {
		return nil, errManifest
	}
	made := make(map[string]*entry, n)
	for range n {
		e := r.entry()
		if r.failed || made[e.path] != nil {
			return nil, errManifest
		}
		if clean, err := names.Clean(e.path); err != nil || clean != e.path || clean == "." {
			return nil, errManifest
		}
		made[e.path] = e
	}
	if len(r.data) > 0 {
		return nil, errManifest
	}
	return made, nil
}

// writeManifest writes the entries of the tree to the manifest, which is next to the tree.
func (t *tree) writeManifest() (err error) {
	const name = manifestName + newSuffix
	f, err := t.slot.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	buffered := bufio.NewWriterSize(f, 64<<10)
	both := io.MultiWriter(buffered, sum)
	p := &packer{}
	p.buf = append(append(p.buf, manifestHead...), t.id[:]...)
	p.text(t.name)
	p.number(uint64(len(t.made)))
	order := make([]string, 0, len(t.made))
	for name := range t.made {
		order = append(order, name)
	}
	slices.Sort(order)
	for i := 0; err == nil && i <= len(order); i++ {
		if _, err = both.Write(p.buf); i < len(order) {
			p.buf = p.buf[:0]
			p.entry(t.made[order[i]])
		}
	}
	if err == nil {
		_, err = buffered.Write(sum.Sum(nil))
	}
	if err = errors.Join(err, buffered.Flush(), f.Close()); err != nil {
		return fmt.Errorf("manifest of the scratch tree: %w", err)
	}
	return t.slot.Rename(name, manifestName)
}

// packer writes entries.
type packer struct{ buf []byte }

func (p *packer) number(n uint64) { p.buf = binary.AppendUvarint(p.buf, n) }
func (p *packer) signed(n int64)  { p.buf = binary.AppendVarint(p.buf, n) }

func (p *packer) text(s string) {
	p.number(uint64(len(s)))
	p.buf = append(p.buf, s...)
}

func (p *packer) entry(e *entry) {
	p.text(e.path)
	p.number(uint64(e.kind))
	p.text(string(e.withheld))
	if e.withheld != "" {
		return
	}
	p.number(uint64(e.mode))
	p.buf = append(p.buf, e.version[:]...)
	p.text(e.target)
	p.signed(e.size)
	p.signed(e.mtime.UnixNano())
	asBase := uint64(0)
	if e.asBase {
		asBase = 1
	}
	p.number(asBase)
	p.number(uint64(e.look.Mode))
	for _, n := range [...]int64{e.look.Size, e.look.MTime, e.look.CTime, e.look.BTime} {
		p.signed(n)
	}
	p.number(e.look.Ino)
	p.number(e.look.Nlink)
}

// unpacker reads the output of a packer. After the end of the data it returns only zeros.
type unpacker struct {
	data   []byte
	failed bool
}

func (r *unpacker) fail() { r.data, r.failed = nil, true }

func (r *unpacker) bytes(n int) []byte {
	if n > len(r.data) {
		r.fail()
		return make([]byte, n)
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *unpacker) number() uint64 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[size:]
	return n
}

func (r *unpacker) signed() int64 {
	n, size := binary.Varint(r.data)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[size:]
	return n
}

func (r *unpacker) text() string {
	n := r.number()
	if n > mostString {
		r.fail()
		return ""
	}
	return string(r.bytes(int(n)))
}

func (r *unpacker) entry() *entry {
	e := &entry{path: r.text(), kind: change.Kind(min(r.number(), uint64(change.Other)))}
	if e.withheld = withheld(r.text()); e.withheld != "" {
		return e
	}
	e.mode = fs.FileMode(min(r.number(), math.MaxUint32))
	copy(e.version[:], r.bytes(len(e.version)))
	e.target = r.text()
	e.size = r.signed()
	e.mtime = time.Unix(0, r.signed())
	e.asBase = r.number() == 1
	e.look.Mode = fs.FileMode(min(r.number(), math.MaxUint32))
	for _, n := range [...]*int64{&e.look.Size, &e.look.MTime, &e.look.CTime, &e.look.BTime} {
		*n = r.signed()
	}
	e.look.Ino = r.number()
	e.look.Nlink = r.number()
	return e
}
