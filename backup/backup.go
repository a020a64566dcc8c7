// Package backup has the types for the backups of commits: their entries in a list, how many are kept.
// [Leftover] is the rest of a commit after a crash. Backups are listed, checked, restored and removed by the
// methods of the Executor: ListBackups, VerifyBackup, PlanRestore and Restore, PruneBackups and RemoveBackup. A
// restore is itself a commit: it is atomic, makes a backup for its own undo, keeps later edits of other files, and
// reports a conflict for files that have changed since.
//
// # Kept files
//
// A before-image is a hard link to the file itself if the file system has links, and otherwise a copy. So a file that
// was only moved, and is then written in place, changes in the backup too; VerifyBackup does not check such files.
// Permanently deleted files are not kept. A commit without a backup still keeps its deleted files, in the trash.
package backup

import (
	"errors"
	"time"
)

// ErrNotFound means that no backup has the id.
var ErrNotFound = errors.New("no such backup")

// ErrUndone: nothing is left to undo. Each path of the commit is undone already, or is as it was before the commit. The
// error of Executor.Restore that matches it names the commit that undid it.
var ErrUndone = errors.New("commit is undone already")

// Info describes a backup.
type Info struct {
	// ID names the backup, such as "20250213_120530_abc123def4567890".
	ID string
	// Time is the time when the commit began.
	Time time.Time
	// Pipeline and RunID are the names of the commit's pipeline and run, "" for none.
	Pipeline string
	RunID    string
	// Restores is the id of the backup that the commit restored, "" if it was not a restore.
	Restores string
	// UndoneBy is the id of the newest commit that undid paths of this commit and was not undone itself, "" if there is
	// none.
	UndoneBy string
	// Left is the number of paths that can still be undone: all of them if UndoneBy is "", and zero for a commit that is
	// undone completely.
	Left int
	// Changed is the number of files and symbolic links that the commit created, edited, renamed or removed.
	Changed int
	// Files is the number of files and symbolic links whose bytes can be restored, Bytes is their size.
	Files int
	Bytes int64
	// Trash means that only deleted files are kept.
	Trash bool
	// Err is the reason why the backup cannot be used, nil if it can. Then only ID is set.
	Err error
}

// Retention limits the kept backups, and in the same way kept results of runs and conflicts. All limits apply: a
// backup beyond any limit is removed. The newest is always kept. The zero Retention keeps the newest 20,
// of results 1,000, however old and large.
type Retention struct {
	// Keep is the number of kept backups. Zero means 20, for results 1,000; negative means no limit.
	Keep int
	// MaxAge is the largest age of a backup. Zero means no limit.
	MaxAge time.Duration
	// MaxBytes is the largest total size of all kept files; hard links count like copies. Zero means no limit.
	MaxBytes int64
}

// Leftover is an unfinished transaction, interrupted by a crash or by a change of another program. Executor.Inspect
// lists them.
type Leftover struct {
	// ID names the transaction. Directory is its place, as a path in the file system.
	ID        string         `json:"id"`
	Directory string         `json:"directory"`
	Status    LeftoverStatus `json:"status"`
	// Pipeline is the name of the pipeline, RunID its run id, Paths the paths to change, in order. They are empty if the
	// plan is missing or cannot be trusted.
	Pipeline string   `json:"pipeline,omitempty"`
	RunID    string   `json:"run_id,omitempty"`
	Paths    []string `json:"paths,omitempty"`
	// Reason explains why a transaction is suspicious, or why the plan of a conflict cannot be read.
	Reason string `json:"reason,omitempty"`
}

// LeftoverStatus is the progress of a transaction. It determines the action of Executor.Recover.
type LeftoverStatus string

// The statuses.
const (
	// nothing in the tree was changed: the prepared files are removed
	LeftoverUntouched   LeftoverStatus = "untouched"
	LeftoverInterrupted LeftoverStatus = "interrupted" // the tree may have been changed: it is undone
	LeftoverCommitted   LeftoverStatus = "committed"   // the tree is new: it becomes a backup
	// damaged or not written here: Recover touches nothing and returns an error
	LeftoverSuspicious LeftoverStatus = "suspicious"
	LeftoverConflict   LeftoverStatus = "conflict" // undone as far as possible: it is kept for the user
)
