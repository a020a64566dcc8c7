package stage

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// A delta is binary: a version, the digest of the delta before it, and lists. Numbers are written by
// [binary.AppendUvarint], texts and bytes are preceded by their length, and names are raw bytes.
//
//	version digest depth [clock nonce, at depth 0] seq
//	steps facts sums taken hides pages bodies nodes links metas slots
const deltaVersion = 1

// The lists of a delta. Each refers only to entries of lists before it, or to its own earlier entries.
const (
	partSteps  = iota // ids of steps
	partFacts         // facts of paths of the base
	partSums          // hashes of facts that were written without a hash
	partTaken         // directories of the base that were moved or removed, with a hash of their entries
	partHides         // other spellings of names, without an entry
	partPages         // bytes in the spill
	partBodies        // contents: splices over a fact, or pages
	partNodes         // nodes of the base, and nodes that were made
	partLinks         // places of nodes of the base that have not moved
	partMetas         // changes of nodes
	partSlots         // changes of directories
	partCount
)

// The kind, and the other flags of a fact.
const (
	factKind    = 7
	factHasID   = 8
	factHasHash = 16
)

// The source of the time of a node, and whether the time was set on purpose.
const (
	timeTold = iota
	timeOfFact
	timeOfStage
	timeMask = 3
	timeSet  = 4
)

// Removal of an entry of the base: not removed, removed and kept in the trash, removed for good, or replaced.
// goneBelow is a flag: the removals of entries below the entry follow.
const (
	goneNot = iota
	goneKept
	goneForGood
	goneReplaced
	goneMask  = 3
	goneBelow = 4
)

type toldRemoval struct {
	gone int
	by   []toldStamp
}

type toldBelow struct {
	path string
	toldRemoval
}

func (r *deltaReader) removal() toldRemoval { return toldRemoval{gone: r.num(), by: r.stamps()} }

// deltaDigest identifies a delta in the next delta.
type deltaDigest [8]byte

func digestOf(delta []byte) deltaDigest {
	sum := sha256.Sum256(delta)
	return deltaDigest(sum[:])
}

// form is a part of a delta that is being written.
type form struct{ buf []byte }

func (f *form) num(n int)         { f.num64(uint64(n)) }
func (f *form) num64(n uint64)    { f.buf = binary.AppendUvarint(f.buf, n) }
func (f *form) signed(n int64)    { f.buf = binary.AppendVarint(f.buf, n) }
func (f *form) raw(data []byte)   { f.buf = append(f.buf, data...) }
func (f *form) text(text string)  { f.num(len(text)); f.buf = append(f.buf, text...) }
func (f *form) time(at time.Time) { f.signed(at.Unix()); f.num(at.Nanosecond()) }

// maybe writes bytes; empty and nil differ.
func (f *form) maybe(data []byte) {
	if data == nil {
		f.num(0)
		return
	}
	f.num(len(data) + 1)
	f.raw(data)
}

// form joins the parts.
func (w *deltaWriter) form(last mark) []byte {
	size := 64
	for i := range w.parts {
		size += len(w.parts[i].buf) + binary.MaxVarintLen32
	}
	f := form{make([]byte, 0, size)}
	f.raw([]byte{deltaVersion})
	f.raw(last.digest[:])
	f.num(w.Depth())
	if w.Depth() == 0 {
		f.time(w.c.now)
		f.text(w.c.nonce)
	}
	f.num(w.seq)
	for i := range w.parts {
		f.num(w.parts[i].count)
		f.raw(w.parts[i].buf)
	}
	return f.buf
}
