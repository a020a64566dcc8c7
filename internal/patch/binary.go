package patch

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
)

// Binary is the change of the bytes of a file in a patch of git.
type Binary struct{ forward, backward *blob }

// blob is one direction of a binary patch.
type blob struct {
	delta bool   // a delta to the old file
	size  int64  // once inflated
	text  string // its lines in the patch
}

// binary reads both sides of a binary patch.
func (p *parser) binary() *Binary {
	at := p.n
	p.next()
	b := &Binary{forward: p.blob(), backward: p.blob()}
	if b.forward == nil {
		p.problem(at, withBinary, `"literal" or "delta" and a size should follow, and lines with the bytes`)
	}
	return b
}

func (p *parser) blob() *blob {
	line, _ := p.peek()
	word, size, _ := strings.Cut(trimEnd(line), " ")
	n, err := strconv.ParseInt(size, 10, 64)
	if word != "literal" && word != "delta" || err != nil || n < 0 {
		return nil
	}
	b := &blob{delta: word == "delta", size: n}
	p.next()
	begin := p.pos
	for line, ok := p.peek(); ok && trimEnd(line) != ""; line, ok = p.peek() {
		p.next()
	}
	b.text = p.text[begin:p.pos]
	if _, ok := p.peek(); !ok && !p.closed {
		// Git writes an empty line after the last line too.
		p.problem(p.n-1, "write all of it", "the patch ends within a binary file")
	}
	p.next()
	return b
}

// digits are the digits of git's base 85, in the order of their values.
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// errDamaged means that the bytes in a patch are not in the format of git.
var errDamaged = errors.New("the binary data in the patch is damaged")

// bytes decodes the lines of a blob and inflates at most its size.
func (b *blob) bytes(most int64) ([]byte, error) {
	if b.size > most {
		return nil, &LimitError{WhatBytes, most}
	}
	var packed []byte
	for line := range strings.Lines(b.text) {
		line = trimEnd(strings.TrimSuffix(line, "\n"))
		n := 0
		switch c := line[0]; {
		case c >= 'A' && c <= 'Z':
			n = int(c-'A') + 1
		case c >= 'a' && c <= 'z':
			n = int(c-'a') + 27
		}
		if n == 0 || len(line) != 1+(n+3)/4*5 {
			return nil, errDamaged
		}
		for i := 1; i < len(line); i += 5 {
			var word uint64
			for _, c := range []byte(line[i : i+5]) {
				d := strings.IndexByte(digits, c)
				if d < 0 {
					return nil, errDamaged
				}
				word = word*85 + uint64(d)
			}
			if word > 1<<32-1 {
				return nil, errDamaged
			}
			four := []byte{byte(word >> 24), byte(word >> 16), byte(word >> 8), byte(word)}
			packed = append(packed, four[:min(4, n)]...)
			n -= min(4, n)
		}
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errDamaged
	}
	var out bytes.Buffer // not allocated by the claimed size in advance
	n, err := io.Copy(&out, io.LimitReader(z, b.size+1))
	if err != nil || n != b.size {
		return nil, errDamaged
	}
	return out.Bytes(), nil
}

// ErrNoIDs means that a binary patch does not name the old and new bytes.
var ErrNoIDs = errors.New(
	"a binary patch needs a line index with both full hashes; make it with git diff --binary --full-index")

// ChangedError means that a patch was made for another content of a binary file.
type ChangedError struct{ Want, Got string }

// Error has both hashes.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("the patch is for other bytes: those of blob %s, and the file is %s", e.Want, e.Got)
}

// Apply returns the new bytes of the file, at most most. done means that the file has these bytes already.
func (f *File) Apply(old []byte, exists bool, most int64) (now []byte, done bool, err error) {
	if len(f.OldID) != len(f.NewID) || len(f.OldID) != 2*sha1.Size && len(f.OldID) != 2*sha256.Size {
		return nil, false, ErrNoIDs
	}
	was := f.id(old, exists)
	switch {
	case was == f.NewID:
		return nil, true, nil
	case was != f.OldID:
		return nil, false, &ChangedError{Want: f.OldID, Got: was}
	case f.Binary.forward == nil:
		return nil, false, errors.New("the patch does not have the bytes to go back")
	}
	data, err := f.Binary.forward.bytes(most)
	if err == nil && f.Binary.forward.delta {
		data, err = undelta(old, data, most)
	}
	if err == nil && f.Op != Delete && f.id(data, true) != f.NewID {
		err = errDamaged
	}
	return data, false, err
}

// id returns git's name of a content.
func (f *File) id(content []byte, exists bool) string {
	if !exists {
		return strings.Repeat("0", len(f.OldID))
	}
	var h hash.Hash = sha256.New()
	if len(f.OldID) <= 2*sha1.Size {
		h = sha1.New() //nolint:gosec // the name of a git object, not a protection
	}
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(content)) // hashes do not fail
	_, _ = h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// Content is the result of comparing a content with the contents that a section names.
type Content struct {
	IsOld, IsNew bool
	id           string
	named        bool // the section names a new content
}

// Is reports whether the content has a name, which may be shortened.
func (c Content) Is(id string) bool { return c.id != "" && sameID(c.id, id) }

// Differs reports whether the content is not the new content of the section.
func (c Content) Differs() bool { return c.named && !c.IsNew }

// Compare compares a content with the contents in the line "index" of a section.
func (f *File) Compare(content []byte) (c Content) {
	if len(f.OldID) < minID || len(f.NewID) < minID || !isHex(f.OldID) || !isHex(f.NewID) {
		return c
	}
	c.id, c.named = f.id(content, true), true
	c.IsOld, c.IsNew = c.Is(f.OldID), c.Is(f.NewID)
	return c
}

// undelta makes the new bytes from the old bytes by git's instructions: to copy a piece, or to add the following bytes.
func undelta(old, delta []byte, most int64) ([]byte, error) {
	from, delta, ok1 := varint(delta)
	size, delta, ok2 := varint(delta)
	if !ok1 || !ok2 || from != int64(len(old)) {
		return nil, errDamaged
	}
	if size > most {
		return nil, &LimitError{WhatBytes, most}
	}
	var out []byte
	for len(delta) > 0 {
		code := delta[0]
		delta = delta[1:]
		var piece []byte
		if code&0x80 == 0 {
			if n := int(code); n > 0 && n <= len(delta) {
				piece, delta = delta[:n], delta[n:]
			}
		} else {
			var parts [7]int64 // four bytes for the offset, three for the length
			for i := range parts {
				if code&(1<<i) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, errDamaged
				}
				parts[i], delta = int64(delta[0]), delta[1:]
			}
			off := parts[0] | parts[1]<<8 | parts[2]<<16 | parts[3]<<24
			n := parts[4] | parts[5]<<8 | parts[6]<<16
			if n == 0 {
				n = 0x10000
			}
			if off+n <= int64(len(old)) {
				piece = old[off : off+n]
			}
		}
		if len(piece) == 0 || int64(len(out))+int64(len(piece)) > size {
			return nil, errDamaged
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != size {
		return nil, errDamaged
	}
	return out, nil
}

func varint(data []byte) (n int64, rest []byte, ok bool) {
	for i, c := range data {
		if i == 8 {
			break
		}
		n |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, data[i+1:], true
		}
	}
	return 0, nil, false
}
