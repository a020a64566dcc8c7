package rundir

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"time"

	"github.com/millrace-go/millrace/runs"
)

// A slot is what the index has of a run, slotSize bytes at number*slotSize: a checksum of all that follows, a version,
// the status, flags, number, parent, times, size, signer, and texts with their lengths. It can only be behind the run's
// own records.
const (
	slotSize    = 512
	slotVersion = 3
	slotTexts   = 56
)

// The flags of a slot.
const (
	slotYAMLErrors = 1 << iota
	slotTooLong    // the texts had no room, or may be wrong: the records have to be read
	slotRemoved    // the run was removed
)

// entry is what lists go by, of a slot or of a run itself. The texts of a slot's are parts of the slot.
type entry struct {
	number, parent   int64
	status           runs.Status
	yamlErrors       bool
	created, updated int64 // nanoseconds since 1970
	project, name    []byte
	ref, sha         []byte
	user, source     []byte
	id               []byte
	tooLong, removed bool
	// size is that of the records which the slot was written behind, 0 where they were not durable then.
	size int64
	// signer is [Store.signer] of the store that has written the slot; of a run that was read it is 0 if that is
	// foreign.
	signer uint64
}

func (e *entry) texts() [7]*[]byte {
	return [...]*[]byte{&e.project, &e.name, &e.ref, &e.sha, &e.user, &e.source, &e.id}
}

// entryOf returns the entry of a run.
func entryOf(r shownRun) entry {
	c := r.created
	return entry{
		number: r.number, parent: c.Parent, status: r.shownStatus(), yamlErrors: c.YAMLErrors,
		created: nanos(r.jobs[0].created), updated: nanos(r.updated),
		project: []byte(c.Project), name: []byte(c.Name), ref: []byte(c.Ref), sha: []byte(c.SHA), user: []byte(c.User),
		source: []byte(c.Source), id: []byte(c.ID),
	}
}

// nanos is a time as slots have it. A time that does not fit is not a time of a run.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func crcOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// encode returns the slot.
func (e *entry) encode() []byte {
	s := make([]byte, slotTexts, slotSize)
	flags := uint16(0)
	if e.yamlErrors {
		flags |= slotYAMLErrors
	}
	if e.removed {
		flags |= slotRemoved
	}
	for _, text := range e.texts() {
		if e.tooLong || len(s)+2+len(*text) > slotSize {
			flags |= slotTooLong
			s = s[:slotTexts]
			break
		}
		s = binary.BigEndian.AppendUint16(s, uint16(len(*text)))
		s = append(s, *text...)
	}
	s = s[:slotSize]
	s[4], s[5] = slotVersion, byte(slices.Index(runs.Statuses(), e.status))
	binary.BigEndian.PutUint16(s[6:], flags)
	for i, n := range []int64{e.number, e.parent, e.created, e.updated, e.size} {
		binary.BigEndian.PutUint64(s[8+8*i:], uint64(n))
	}
	binary.BigEndian.PutUint64(s[48:], e.signer)
	binary.BigEndian.PutUint32(s, crcOf(s[4:]))
	return s
}

// decode reads the slot of a number. It is false if that says nothing that can be relied on. The entry is the caller's,
// for a list goes through a hundred thousand of them.
func (e *entry) decode(s []byte, number int64, statuses []runs.Status) bool {
	*e = entry{}
	if s[4] != slotVersion || int(s[5]) >= len(statuses) || binary.BigEndian.Uint32(s) != crcOf(s[4:slotSize]) {
		return false
	}
	flags := binary.BigEndian.Uint16(s[6:])
	e.number = int64(binary.BigEndian.Uint64(s[8:]))
	e.parent = int64(binary.BigEndian.Uint64(s[16:]))
	e.created = int64(binary.BigEndian.Uint64(s[24:]))
	e.updated = int64(binary.BigEndian.Uint64(s[32:]))
	e.size = int64(binary.BigEndian.Uint64(s[40:]))
	e.signer = binary.BigEndian.Uint64(s[48:])
	e.status, e.yamlErrors = statuses[s[5]], flags&slotYAMLErrors != 0
	e.tooLong, e.removed = flags&slotTooLong != 0, flags&slotRemoved != 0
	if e.number != number || e.tooLong {
		return e.number == number
	}
	rest := s[slotTexts:slotSize]
	for _, text := range e.texts() {
		if len(rest) < 2 {
			return false
		}
		size := int(binary.BigEndian.Uint16(rest))
		if size > len(rest)-2 {
			return false
		}
		*text, rest = rest[2:2+size:2+size], rest[2+size:]
	}
	return true
}

// settled reports whether a slot says all that its run does: what has ended is written before the run's next record,
// see [writer.append].
func (e *entry) settled() bool { return e.status.Ended() && !e.tooLong }

// waits reports whether a slot says all that its run does as long as the records have the size that it says: nobody
// works on the run then, and a power cut has taken none of them.
func (e *entry) waits() bool { return e.size > 0 && !e.status.Active() && !e.tooLong }
