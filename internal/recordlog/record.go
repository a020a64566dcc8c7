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
	// MaxRecord is how long the JSON of a record can be.
	MaxRecord = 64 << 10
	// MaxFile is how long the file can be.
	MaxFile = 16 << 20
	// reserve is what is kept free at the end of the file for [Writer.AppendLast].
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

// chainStart stands before the first record, where the mac of the one before stands for all others. It keeps what
// is signed here from being taken for anything else that is signed with the same key.
const chainStart = "millrace record1"

type mac [macSize]byte

// chain signs records one after the other.
type chain struct {
	hash hash.Hash // nil: without a key
	last mac
}

func newChain(key []byte) chain {
	c := chain{last: mac([]byte(chainStart))}
	if len(key) > 0 {
		c.hash = hmac.New(sha256.New, key)
	}
	return c
}

// next returns the mac of a record that follows the last one.
func (c *chain) next(json []byte) mac {
	var sum [sha256.Size]byte
	c.hash.Reset()
	c.hash.Write(c.last[:])
	c.hash.Write(json)
	return mac(c.hash.Sum(sum[:0])[:macSize])
}

// crc32.MakeTable returns the same table each time for this polynomial.
func crcOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// appendLine appends the line of a record. The checksum is that of the mac and the JSON, with the space between.
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

// cutLine returns the contents of a line, without its end, and whether appendLine could have made the line.
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

// Reason says why a file of records is read no further.
type Reason string

// The reasons.
const (
	Torn     Reason = "half a record"
	Damaged  Reason = "a damaged record"
	Unsigned Reason = "a record that is not signed with this key, or does not follow the one before"
	TooLarge Reason = "more than the file may have"
)

// Stop says where a file of records is read no further, and why.
type Stop struct {
	Reason Reason
	// Offset is where the bytes begin that were not taken, Record the number of the record there, from 1.
	Offset int64
	Record int
}

// Error names the place and the reason.
func (s *Stop) Error() string {
	return fmt.Sprintf("record %d at byte %d: %s", s.Record, s.Offset, s.Reason)
}
