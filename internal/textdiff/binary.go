package textdiff

import (
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
)

// index writes the line with the names of both blobs: without it git refuses binary patches, and patch does not see
// that a link that is there already is one.
func (p *printer) index(f FilePatch) {
	p.print("index ", blobID(all(f.Old), f.OldMode), "..", blobID(all(f.New), f.NewMode))
	if f.OldMode == f.NewMode {
		p.print(" ", octal(f.NewMode))
	}
	p.print("\n")
}

// blobID returns the name git gives to the content, all zeros if there is no file.
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
	lines := base85Lines{p: p}
	z := zlib.NewWriter(&lines)
	// Neither reports an error of the writer below: the printer keeps it.
	_, _ = z.Write(content)
	_ = z.Close()
	lines.flush()
	p.print("\n")
}

// base85Digits are git's; they are not those of encoding/ascii85.
const base85Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// lineBytes is how many bytes a line of a binary patch holds at most.
const lineBytes = 52

// base85Lines is a writer that prints what it is given in lines: a letter for the number of bytes, then five digits for
// every four of them, the last four filled up with zeros.
type base85Lines struct {
	p   *printer
	buf [lineBytes]byte
	n   int
}

func (b *base85Lines) Write(data []byte) (int, error) {
	total := len(data)
	for len(data) > 0 {
		n := copy(b.buf[b.n:], data)
		b.n += n
		data = data[n:]
		if b.n == lineBytes {
			b.flush()
		}
	}
	return total, nil
}

func (b *base85Lines) flush() {
	if b.n == 0 {
		return
	}
	clear(b.buf[b.n:])
	// A to Z stand for 1 to 26, a to z for 27 to 52.
	line := append(make([]byte, 0, 2+lineBytes/4*5), 'A'+byte(b.n)-1)
	if b.n > 26 {
		line[0] = 'a' + byte(b.n) - 27
	}
	for i := 0; i < b.n; i += 4 {
		word := uint32(b.buf[i])<<24 | uint32(b.buf[i+1])<<16 | uint32(b.buf[i+2])<<8 | uint32(b.buf[i+3])
		var digits [5]byte
		for d := len(digits) - 1; d >= 0; d-- {
			digits[d] = base85Digits[word%85]
			word /= 85
		}
		line = append(line, digits[:]...)
	}
	_, _ = b.p.w.Write(append(line, '\n'))
	b.n = 0
}
