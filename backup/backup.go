// Package backup has the words for the backups that commits leave: what a list says of them, how many are kept, and
// what can be wrong with them. [Leftover] is what a crash leaves of a commit. Backups are listed, checked, restored
// and removed by the methods of the Executor: ListBackups, VerifyBackup, PlanRestore and Restore, PruneBackups and
// RemoveBackup. Restoring is itself a commit, so it is all or nothing, makes a backup that it can be undone with,
// keeps later edits of other files, and reports a conflict for files that have changed since.
//
// # What is kept
//
// A before-image is the file itself, hard-linked, where the file system has links, and a copy where it has not. A
// file that was only moved and is then written in place therefore changes in the backup too; VerifyBackup does not
// judge such files. Files that were deleted for good are not kept. A commit that was told to keep no backup still
// keeps what it deleted, as a trash.
package backup

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrNotFound says that there is no backup of that id.
var ErrNotFound = errors.New("no such backup")

// Info describes a backup.
type Info struct {
	// ID names it, such as "20250213_120530_abc123def4567890".
	ID string
	// Time is when the commit began.
	Time time.Time
	// Pipeline and RunID are the names given to the commit, "" if none was.
	Pipeline string
	RunID    string
	// Restores is the id of the backup that the commit took back, "" if it was no restore. So of a list one can tell
	// what is undone, and what the newest commit is that is neither undone nor an undoing.
	Restores string
	// Files is how many files and symbolic links it can restore the bytes of, Bytes is how many bytes those are.
	Files int
	Bytes int64
	// Trash says that only what was deleted is kept.
	Trash bool
	// Err is why the backup cannot be used, nil if it can. Then only ID is set.
	Err error
}

// DamagedError says that some of the files kept in a backup are not what they were.
type DamagedError struct {
	ID    string
	Files []Damage // in path order
}

// Damage is one file of a backup that cannot be restored.
type Damage struct {
	// Path is where the file was in the tree, Image where it is kept.
	Path, Image string
	Reason      string
}

// Error names every file.
func (e *DamagedError) Error() string {
	texts := make([]string, len(e.Files))
	for i, d := range e.Files {
		texts[i] = d.Path + ": " + d.Reason
	}
	return fmt.Sprintf("backup %s is damaged: %s", e.ID, strings.Join(texts, "; "))
}
