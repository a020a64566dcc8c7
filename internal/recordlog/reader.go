package recordlog

import (
	"bytes"
	"crypto/hmac"
)

// End is the end of the records of a file, where a [Writer] continues.
type End struct {
	// Offset is the size of the records in bytes, Count the number of records.
	Offset int64
	Count  int
	last   mac
}

// Start is the End of an empty file.
func Start() End { return End{last: newChain(nil).last} }

// Reader reads the records of a file in order, up to the first record that is incomplete or breaks the chain. It is not
// safe for concurrent use.
type Reader struct {
	rest     []byte
	chain    chain
	verifies bool
	end      End
	stop     *Stop
}

// NewReader reads the bytes of a file of records that were signed with the key. Of a file longer than [MaxFile],
// MaxFile+1 bytes are enough. Without a key, no record is accepted.
func NewReader(file, key []byte) *Reader {
	return &Reader{rest: file, chain: newChain(key), verifies: true, end: Start()}
}

// NewUnverified reads records without checking the signatures and whether a record was removed. It is for showing the
// contents of a file, which must not be used for anything else.
func NewUnverified(file []byte) *Reader {
	return &Reader{rest: file, chain: newChain(nil), end: Start()}
}

// Next returns the JSON of the next record, as a slice of the file's bytes. ok is false after the last record; then
// [Reader.Stop] has the reason.
func (r *Reader) Next() (json []byte, ok bool) {
	if r.stop != nil || len(r.rest) == 0 {
		return nil, false
	}
	size := bytes.IndexByte(r.rest[:min(len(r.rest), maxLine)], '\n')
	switch {
	case size < 0 && len(r.rest) >= maxLine:
		return r.stopped(Damaged)
	case size < 0 && r.end.Offset+int64(len(r.rest)) <= MaxFile:
		return r.stopped(Torn)
	case size < 0 || r.end.Offset+int64(size) >= MaxFile:
		return r.stopped(TooLarge)
	}
	m, json, ok := cutLine(r.rest[:size])
	switch {
	case !ok:
		return r.stopped(Damaged)
	case r.verifies && !r.follows(m, json):
		return r.stopped(Unsigned)
	}
	r.chain.last = m
	r.rest = r.rest[size+1:]
	r.end = End{Offset: r.end.Offset + int64(size) + 1, Count: r.end.Count + 1, last: m}
	return json, true
}

func (r *Reader) follows(m mac, json []byte) bool {
	if r.chain.hash == nil {
		return false
	}
	want := r.chain.next(json)
	return hmac.Equal(m[:], want[:])
}

func (r *Reader) stopped(why Reason) ([]byte, bool) {
	r.stop = &Stop{Reason: why, Offset: r.end.Offset, Record: r.end.Count + 1}
	return nil, false
}

// End returns the end of the records that Next has returned.
func (r *Reader) End() End { return r.end }

// Stop returns the reason why Next stopped, nil at the end of the file.
func (r *Reader) Stop() *Stop { return r.stop }
