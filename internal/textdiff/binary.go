package textdiff

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
)

// index writes the line with the names of both blobs: without it git refuses binary patches, and patch does not
// recognize an existing link.
func (p *printer) index(f FilePatch) {
	p.print("index ", blobID(all(f.Old), f.OldMode), "..", blobID(all(f.New), f.NewMode))
	if f.OldMode == f.NewMode {
		p.print(" ", octal(f.NewMode))
	}
	p.print("\n")
}

// blobID returns git's name of the content, all zeros for a missing file.
func blobID(content []byte, mode uint32) string {
	if mode == ModeAbsent {
		return hex.EncodeToString(make([]byte, sha1.Size))
	}
	h := sha1.New() //nolint:gosec // the name of a git object, not a protection
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(content))
	_, _ = h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// literal writes one direction of a binary patch: the whole content, deflated.
func (p *printer) literal(content []byte) {
	p.print("literal ", strconv.Itoa(len(content)), "\n")
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	// Memory does not fail.
	_, _ = z.Write(content)
	_ = z.Close()
	for line := range slices.Chunk(deflated.Bytes(), lineBytes) {
		p.base85(line)
	}
	p.print("\n")
}

// base85Digits are the digits of git; encoding/ascii85 has others.
const base85Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// lineBytes is the largest number of bytes in a line of a binary patch.
const lineBytes = 52

// base85 writes one line: a letter for the number of bytes, then five digits for every four bytes, the last four filled
// up with zeros.
func (p *printer) base85(data []byte) {
	// A to Z mean 1 to 26, a to z mean 27 to 52.
	line := append(make([]byte, 0, 2+lineBytes/4*5), base85Digits[9+len(data)])
	for four := range slices.Chunk(data, 4) {
		var filled [4]byte
		copy(filled[:], four)
		word := binary.BigEndian.Uint32(filled[:])
		var digits [5]byte
		for d := len(digits) - 1; d >= 0; d-- {
			digits[d] = base85Digits[word%85]
			word /= 85
		}
		line = append(line, digits[:]...)
	}
	_, _ = p.w.Write(append(line, '\n'))
}
