package commit

import (
	"io"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
)

// Options are the settings of a commit. FS and StateDir are needed by all functions of this package.
type Options struct {
	// FS is the tree, as fsutil.Raise returns it.
	FS afero.Fs
	// StateDir is the canonical path of the directory for transactions, backups and results. It is made when needed and
	// removed when empty.
	StateDir string
	// Lock is a lock that the caller got from Lock and keeps. Nil means that the call locks and unlocks the tree.
	Lock io.Closer
	// Recovered means that Recover found no leftover since the caller took Lock. No other process can begin a
	// transaction under that lock, so Apply does not look again.
	Recovered bool
	// Key signs the plans. Nil means the key of journal.KeyFor.
	Key []byte
	// Trust is the id of a transaction that the caller trusts: its plan is carried out, whatever key signed it and
	// wherever it was made. It must still be complete and allowed. Empty means none.
	Trust string
	// InPlace allows changes of files that are mount points, by overwriting their bytes. Other programs can read such a
	// file half written; undoing or recovery makes it complete again. Without InPlace the error is
	// capability.ErrMountPoint.
	InPlace bool
	// NoSync leaves out all fsyncs.
	NoSync bool

	// ID names the transaction. It is from journal.NewID, for a caller who needs it before the commit. Empty means a new
	// id.
	ID string
	// Pipeline is a name for listings.
	Pipeline string
	// Restores is the id of the transaction that this transaction undoes, for listings. Empty means none.
	Restores string
	// RunID names the file runs/<RunID>.json that Result is written to. Empty means that no result is kept.
	RunID string
	// Result is committed together with the changes. It is ignored without a RunID.
	Result []byte
	// DropBackup keeps only the before-images of files that were deleted to the trash.
	DropBackup bool
	// ReadSince is a time before which nothing of the base was read. Then files whose identity, size and times have not
	// changed are not hashed again; writes through a memory mapping may change none of these. The zero time means that
	// every file is hashed.
	ReadSince time.Time
	// Workers is how many files are hashed, copied and synced at a time. Zero means 8. In memory it is always 1.
	Workers int
	// Observe is called with the name of each phase when it begins, from one goroutine at a time: "verify", "stage",
	// "backup", "journal", "apply", "sync", "commit", "clean", and "rollback". Nil means none.
	Observe func(phase string)
	// opened is called with each disk that is opened, for tests. Nil means none.
	opened func(*disk.Disk)
	// Progress is called now and then within a phase that goes through all changes, with how many of them are done, from
	// one goroutine at a time. Nil means none. It is also called for every 16 MiB of files that a phase hashes or copies:
	// bytes is the number of bytes that the phase has read so far.
	Progress func(phase string, done, total int, bytes int64)
}

// Guarantee names the failures that a change survives, committed or interrupted. Each value includes the later values.
type Guarantee string

// The guarantees.
const (
	// the machine stops: the change is complete or undone, and an acknowledged commit is there, if fsync is honest
	PowerLoss Guarantee = "power_loss"
	Kill      Guarantee = "kill"  // the process dies: complete or undone
	Failure   Guarantee = "error" // an operation fails: complete or undone; the tree ends with the process anyway
)

// Report describes the work of Apply, also after an error.
type Report struct {
	// ID names the transaction. It is empty if there was nothing to do.
	ID string
	// BackupID is ID if a backup was kept, even if only of the trash, otherwise "".
	BackupID string
	// Guarantee is the guarantee that was reached.
	Guarantee Guarantee
	// Committed means that the tree matches the changes; RolledBack, that some paths had been written and all were undone.
	// If neither is set with an error that is not a *PendingError, nothing was written.
	Committed, RolledBack bool
	// Warnings are problems that are not failures, in path order.
	Warnings []string
}

const defaultWorkers = 8

// open returns the operations on the file system of the options. The abilities of the file system are not known yet.
func (o *Options) open() *disk.Disk {
	d := disk.Open(o.FS)
	if o.opened != nil {
		o.opened(d)
	}
	d.Sync = !o.NoSync && !d.Memory
	return d
}

// state returns the state directory.
func (o *Options) state() stateDir { return stateDir{o.open(), o.StateDir} }

// newTxn returns a transaction in that directory.
func (o *Options) newTxn(key []byte, dir string) *txn {
	state := o.state()
	t := &txn{Disk: state.d, state: state, opts: o, key: key, dir: dir, workers: o.Workers}
	switch {
	case t.Memory:
		t.workers = 1 // a MemMapFs is not safe for concurrent commits
	case t.workers <= 0:
		t.workers = defaultWorkers
	}
	return t
}
