package fsutil

import (
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
)

// The values that a stage and a plan speak of. They live in package change, with their methods.
type (
	// Change is the difference between the base and the stage at one path, see [change.Change].
	Change = change.Change
	// ChangeKind is the kind of a change to its path.
	ChangeKind = change.ChangeKind
	// Splice replaces some bytes of a file by a text, see [change.Splice].
	Splice = change.Splice
	// Origin is the author of some bytes: the step, and the number of its edit.
	Origin = change.Origin
	// Hash is the SHA-256 of a file's bytes, see [change.Hash].
	Hash = change.Hash
)

// The kinds of changes, as they appear in JSON.
const (
	Created  = change.Created
	Modified = change.Modified
	Deleted  = change.Deleted
	Renamed  = change.Renamed
)

// HashOf returns the hash of data.
func HashOf(data []byte) Hash { return change.HashOf(data) }

// ErrLocked: another executor held the lock of the tree until the wait was over.
var ErrLocked = capability.ErrLocked
