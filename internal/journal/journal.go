// Package journal is the plan file of a transaction: it records what a commit will do to each path before it touches
// the first path. From the plan and the tree, a recovery can find what was done, and undo it.
//
// A plan is made once, encoded, renamed into place and never written again. [Encode] adds a CRC-32C to every line, and
// to the whole file a SHA-256 and an HMAC with a key of the user, see [UserKey]. [Decode] checks all of them and then
// every path and state. It refuses a plan that came with a cloned repository or was copied from another place, because
// the plan would be executed with the rights of the user.
package journal

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/millrace-go/millrace/change"
)

// Version is the version of the format that this package writes, and the only one it reads.
const Version = 1

// Names inside the directory of a transaction.
const (
	PlanTemp = "plan.tmp"    // the plan while it is being written
	PlanFile = "plan"        // the plan of a transaction that is not committed
	DoneFile = "done"        // the same file, renamed to mark the commit
	Result   = "result.json" // what the caller commits together with the change
	OldDir   = "old"         // before-images
	NewDir   = "new"         // new contents, and entries taken out of the tree
)

// Names inside the state directory.
const (
	TxDir        = "tx"        // unfinished transactions
	BackupsDir   = "backups"   // finished transactions
	ConflictsDir = "conflicts" // transactions whose undoing met changes of other programs
	ResultsDir   = "results"   // results of runs, by their ids
	StoreDir     = "runs"      // the default place of a store of runs
)

// Image is the way in which the before-image of a path was taken.
type Image string

// The ways to take a before-image.
const (
	NoImage Image = ""     // no file is needed: nothing has to be kept, or the State has everything
	Linked  Image = "link" // a hard link: the inode itself
	Copied  Image = "copy" // another inode with the same bytes
)

// Header is the part of a plan about the transaction as a whole.
type Header struct {
	Version  int
	ID       string    // see NewID
	Time     time.Time // of the beginning
	RunID    string    // the caller's name for the run; "" if it has none
	Pipeline string    // for listings
	Restores string    // the id of the transaction that this one reverts; "" if it reverts none
	StateDir string    // canonical
	Sync     bool      // whether the plan was made durable with fsync
	Keep     bool      // whether all before-images are kept as a backup, or only the trash
	// Result is the hash of the file [Result] next to the plan, zero without this file.
	Result change.Hash
	// Dev and Ino are the identity of the directory of the transaction, zero if unknown.
	Dev, Ino uint64
	// Can lists the features that the file system was found to have: "exchange", "link", "no_replace", in this order.
	// Undoing relies on it if the disk is too full for a new test. Nil means unknown.
	Can []string
}

// Record is the part of a plan about one path.
type Record struct {
	Path string
	// From is where a renamed file was before, for listings and restoring. "" if it was not renamed.
	From string
	// Old and New are the states of Path before and after.
	Old, New change.State
	// Slot numbers the record's files in OldDir and NewDir, see [Slot].
	Slot int
	// Image is the kind of the record's file in OldDir.
	Image Image
	// Moved means that the file at From comes to Path unchanged, as the same inode if the file system has links.
	Moved bool
	// Attr means that only mode or times change; the file stays where it is.
	Attr bool
	// Trash means that the path was deleted by a step, even if another entry is there now, and must be restorable even if
	// no backup is kept. Permanent means that it must not be restorable.
	Trash, Permanent bool
	// FarDir is set if Path is on another mount than the state directory. It is a directory above Path that stays, and
	// holds those files of the record that would otherwise be in NewDir.
	FarDir string
	// InPlace is set if the bytes of the file at Path are overwritten: the path is a mount point, so no other file can
	// take its place.
	InPlace bool
}

// Plan is a whole plan. The records are in the order of their paths.
type Plan struct {
	Header
	Records []Record
}

// Kept reports whether the before-image of the record is kept after the transaction.
func (p *Plan) Kept(r *Record) bool {
	return !r.Permanent && (p.Keep || r.Trash)
}

// KeepsAny reports whether a finished transaction is worth keeping at all.
func (p *Plan) KeepsAny() bool {
	return slices.ContainsFunc(p.Records, func(r Record) bool { return p.Kept(&r) })
}

const shardBits = 8

// Slot returns the name of the file of a slot inside OldDir or NewDir. No directory has more than 256 of them, because
// some file systems create files slowly in a directory of thousands.
func Slot(n int) string {
	return fmt.Sprintf("%02x/%02x", n>>shardBits, n&(1<<shardBits-1))
}

// Shards returns the names of the directories of the first n slots.
func Shards(n int) []string {
	names := make([]string, 0, (n-1)>>shardBits+1)
	for i := 0; i<<shardBits < n; i++ {
		names = append(names, fmt.Sprintf("%02x", i))
	}
	return names
}

// FarName returns the path of the file that a record with a FarDir uses in place of its slot in NewDir.
func (p *Plan) FarName(r *Record) string {
	return path.Join(r.FarDir, ".millrace-"+p.ID+"-"+strconv.Itoa(r.Slot))
}

const idTime = "20060102_150405"

// NewID returns the id of a transaction begun at t: the time in UTC to the second and 64 random bits, such as
// 20250213_120530_abc123def4567890.
func NewID(t time.Time) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return t.UTC().Format(idTime) + "_" + hex.EncodeToString(b[:])
}

// TimeOf returns the time in an id, to the second, or the zero Time if the id has none.
func TimeOf(id string) time.Time {
	t, err := time.Parse(idTime, id[:min(len(id), len(idTime))])
	if err != nil {
		return time.Time{}
	}
	return t
}
