package rundir

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"time"

	"github.com/millrace-go/millrace/runs"
)

// A slot is the entry of a run in the index, slotSize bytes at number*slotSize: a checksum of the rest, a version, the
// status, flags, number, parent, times, size, signer, and texts with their lengths. It may be older than the run's own
// records, but not newer.
const (
	slotSize    = 512
	slotVersion = 3
	slotTexts   = 56
)

// The flags of a slot.
const (
	slotYAMLErrors = 1 << iota
	slotTooLong    // the texts had no room, or may be wrong: read the records
	slotRemoved    // the run was removed; if it has a directory, a new run has its number: read the records
)

// entry is the data for lists, from a slot or from the run itself. The texts of an entry from a slot are parts of the
// slot.
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
	// size is the size of the records when the slot was written, 0 if they were not durable then.
	size int64
	// signer is the [Store.signer] of the store that has written the slot; for an entry from the run itself it is 0 if the
	// run is foreign.
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

// nanos returns a time in the form of slots. A time that does not fit is not a time of a run.
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

// decode reads the slot of a number. It returns false if the slot cannot be trusted. The entry is the caller's, because
// a list reads a hundred thousand of them.
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

// settled reports whether a slot is up to date on its own: the slot of an ended run is changed before the run's next
// record, see [writer.append].
func (e *entry) settled() bool { return e.status.Ended() && !e.tooLong }

// waits reports whether a slot is up to date if the records still have its size: nobody works on the run then, and no
// power cut has lost a record.
func (e *entry) waits() bool { return e.size > 0 && !e.status.Active() && !e.tooLong }
