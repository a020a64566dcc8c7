package commit

import (
	"io"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
)

// Options say where and how to commit. FS and StateDir are needed by all functions of this package.
type Options struct {
	// FS is the tree, as fsutil.Raise gives it.
	FS afero.Fs
	// StateDir is the canonical path of the directory for transactions, backups and results. It is made when there is
	// something to put there and removed when nothing is left in it.
	StateDir string
	// Lock is what Lock gave to the caller, who keeps it. Nil means that the lock is taken and given back within the
	// call.
	Lock io.Closer
	// Recovered means that Recover found no leftover since the caller took Lock. No other process can begin a
	// transaction under that lock, so Apply does not look again.
	Recovered bool
	// Key signs the plans. Nil means what journal.KeyFor says.
	Key []byte
	// Trust is the id of a transaction that the caller vouches for: what its plan says is done, whatever key it is
	// signed with and wherever it was made. It must still be whole and allowed. Empty means none.
	Trust string
	// InPlace lets files be changed that are mount points, by overwriting their bytes. Other programs can read such a
	// file half written; what is undone or recovered is whole again. Otherwise they are capability.ErrMountPoint.
	InPlace bool
	// NoSync leaves out all fsyncs.
	NoSync bool

	// ID names the transaction: what journal.NewID gave, for a caller who wants to know it before. Empty means a new
	// one.
	ID string
	// Pipeline is a name for listings.
	Pipeline string
	// Restores is the id of the transaction that this one takes back, for listings. Empty means none.
	Restores string
	// RunID names the file runs/<RunID>.json that Result is written to. Empty means that no result is kept.
	RunID string
	// Result is committed together with the changes. It is ignored without a RunID.
	Result []byte
	// DropBackup keeps no before-images but those of files that were deleted and not permanently: the trash.
	DropBackup bool
	// ReadSince is a time before which nothing of the base was read. Files that have not changed since, judged by their
	// identity, size and times, are then not hashed again: what is written through a mapping may show in none of these.
	// The zero time means that every file is.
	ReadSince time.Time
	// Workers is how many files are hashed, copied and synced at a time. Zero means 8. In memory it is always 1.
	Workers int
	// Observe is called with the name of each phase when it begins, from one goroutine at a time: "verify", "stage",
	// "backup", "journal", "apply", "sync", "commit", "clean", and "rollback". Nil means none.
	Observe func(phase string)
	// opened is called with each disk that is opened, for tests. Nil means none.
	opened func(*disk.Disk)
	// Progress is called now and then within a phase that goes through all changes, with how many of them are done,
	// from one goroutine at a time. Nil means none. It is called in each phase too with every 16 MiB of files that are
	// hashed or copied: bytes is how many the phase has read so far.
	Progress func(phase string, done, total int, bytes int64)
}

// Guarantee names the failures that a committed change, and an interrupted change, survive. Each value includes the
// later values.
type Guarantee string

// The guarantees.
const (
	// the machine stops: whole, and what was acknowledged is there, if fsync is honest
	PowerLoss Guarantee = "power_loss"
	Kill      Guarantee = "kill"  // the process dies: whole
	Failure   Guarantee = "error" // an operation fails: whole; the tree does not outlive the process anyway
)

// Report describes the work of Apply, also beside an error.
type Report struct {
	// ID names the transaction. It is empty if there was nothing to do.
	ID string
	// BackupID is ID if a backup was kept, even if only of the trash. "" if not.
	BackupID string
	// Guarantee is what was reached.
	Guarantee Guarantee
	// Committed means that the tree matches the changes; RolledBack, that some of it had been written and all of it was
	// undone. If neither is set beside an error that is not a *PendingError, nothing was written.
	Committed, RolledBack bool
	// Warnings are what did not go as it should without being a failure, in path order.
	Warnings []string
}

const defaultWorkers = 8

// open returns the operations on the file system of the options, with nothing known yet of what it can do.
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
		t.workers = 1 // a MemMapFs is not safe for what happens here
	case t.workers <= 0:
		t.workers = defaultWorkers
	}
	return t
}
