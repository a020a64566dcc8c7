package recordlog

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
)

// The limits of a file of records, in bytes.
const (
	// MaxRecord is the maximum size of a record's JSON.
	MaxRecord = 64 << 10
	// MaxFile is the maximum size of the file.
	MaxFile = 16 << 20
	// reserve is the space at the end of the file that is reserved for [Writer.AppendLast].
	reserve = 4 * maxLine
)

// The form of a line: crc32c mac json, the sums in hexadecimal.
const (
	crcDigits = 8
	macSize   = 16
	macDigits = 2 * macSize
	headSize  = crcDigits + 1 + macDigits + 1
	maxLine   = headSize + MaxRecord + 1
)

// chainStart takes the place of the previous mac for the first record. It also separates these signatures from other
// data signed with the same key.
const chainStart = "millrace record1"

type mac [macSize]byte

// chain signs consecutive records.
type chain struct {
	hash hash.Hash // nil without a key
	last mac
}

func newChain(key []byte) chain {
	c := chain{last: mac([]byte(chainStart))}
	if len(key) > 0 {
		c.hash = hmac.New(sha256.New, key)
	}
	return c
}

// next returns the mac of a record after the last one.
func (c *chain) next(json []byte) mac {
	var sum [sha256.Size]byte
	c.hash.Reset()
	c.hash.Write(c.last[:])
	c.hash.Write(json)
	return mac(c.hash.Sum(sum[:0])[:macSize])
}

// crc32.MakeTable returns the same table each time for this polynomial.
func crcOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// appendLine appends the line of a record. The checksum covers the mac, the space and the JSON.
func appendLine(dst []byte, m mac, json []byte) []byte {
	start := len(dst)
	dst = append(dst, "01234567 "...)
	dst = hex.AppendEncode(dst, m[:])
	dst = append(append(dst, ' '), json...)
	var crc [4]byte
	binary.BigEndian.PutUint32(crc[:], crcOf(dst[start+crcDigits+1:]))
	hex.Encode(dst[start:], crc[:])
	return append(dst, '\n')
}

// cutLine returns the contents of a line, without its end. ok is false if appendLine cannot have made the line.
func cutLine(line []byte) (m mac, json []byte, ok bool) {
	if len(line) < headSize || len(line) >= maxLine || line[crcDigits] != ' ' || line[headSize-1] != ' ' {
		return m, nil, false
	}
	var want [4]byte
	var head [crcDigits]byte
	binary.BigEndian.PutUint32(want[:], crcOf(line[crcDigits+1:]))
	hex.Encode(head[:], want[:])
	if !bytes.Equal(head[:], line[:crcDigits]) {
		return m, nil, false
	}
	_, err := hex.Decode(m[:], line[crcDigits+1:headSize-1])
	return m, line[headSize:], err == nil
}

// Reason is the reason why the reading of a file of records stopped.
type Reason string

// The reasons.
const (
	Torn     Reason = "half a record"
	Damaged  Reason = "a damaged record"
	Unsigned Reason = "a record that is not signed with this key, or does not follow the one before"
	TooLarge Reason = "more than the file may have"
)

// Stop is the place where the reading of a file of records stopped, and the reason.
type Stop struct {
	Reason Reason
	// Offset is the offset of the first byte that was not accepted, Record the number of the record there, from 1.
	Offset int64
	Record int
}

// Error names the place and the reason.
func (s *Stop) Error() string {
	return fmt.Sprintf("record %d at byte %d: %s", s.Record, s.Offset, s.Reason)
}
