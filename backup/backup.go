// Package backup finds, checks and restores what earlier commits have replaced.
//
// A backup is a finished transaction, moved to <state>/backups/<id>: the file "done", which is the journal of what stood at
// each path before and after, and the directory "old" with the files themselves, by number. So two files of one base name
// are two files, and modes, times, links and directories are in the journal. Nothing is ever changed in a backup.
//
// # Life cycle
//
// [List] shows the backups of a tree, [Load] takes one up, [Backup.Verify] reads every byte that is kept and compares it with
// the journal's hashes, [Backup.Changes] gives the changes that would undo the commit, to be committed like any others;
// so a restore is itself atomic, backed up, and in conflict with whatever somebody has changed since. [Prune] removes old
// backups.
//
// A commit that kept no backup still keeps the files that it deleted, unless permanently: they are its trash, and restored
// in the same way.
package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/journal"
)

// ErrNotFound says that there is no backup of that id.
var ErrNotFound = errors.New("no such backup")

// Info says what a backup is.
type Info struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"` // of the commit, UTC
	Pipeline string    `json:"pipeline,omitempty"`
	RunID    string    `json:"run_id,omitempty"`
	// Paths are those that the commit changed and the backup can restore, in path order.
	Paths []string `json:"paths"`
	// Bytes is the size of the files kept. Where a file was hard-linked they may not take space of their own.
	Bytes int64 `json:"bytes"`
	// TrashOnly says that only deleted files were kept.
	TrashOnly bool `json:"trash_only,omitempty"`
}

// Backup is one backup, read and checked as far as its journal goes. It is immutable and safe for concurrent use.
type Backup struct {
	fs   afero.Fs
	dir  string
	plan *journal.Plan
}

// DamageError lists the files of a backup whose bytes are not what the journal says. Nothing was restored.
type DamageError struct {
	ID string
	// Paths are the names that the files had in the tree, in path order.
	Paths []string
	// Errs are the reasons, one for each path.
	Errs []error
}

// Error names every path and its reason.
func (e *DamageError) Error() string {
	all := make([]string, len(e.Paths))
	for i, p := range e.Paths {
		all[i] = fmt.Sprintf("%s: %v", p, e.Errs[i])
	}
	return fmt.Sprintf("backup %s is damaged: %s", e.ID, strings.Join(all, "; "))
}

// Unwrap returns the reasons.
func (e *DamageError) Unwrap() []error { return e.Errs }

// ids returns the ids of all backups, oldest first.
func ids(fsys afero.Fs, stateDir string) ([]string, error) {
	dir := path.Join(stateDir, journal.BackupsDir)
	entries, err := afero.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() && journal.ValidID(e.Name()) {
			all = append(all, e.Name())
		}
	}
	slices.Sort(all)
	return all, err
}

// List returns the backups in the state directory, oldest first. Those that cannot be read are left out, and the error,
// which then comes beside the list, says which and why. stateDir is canonical, fsys is raised.
func List(fsys afero.Fs, stateDir string) ([]Info, error) {
	all, err := ids(fsys, stateDir)
	if err != nil {
		return nil, err
	}
	infos := make([]Info, 0, len(all))
	var errs []error
	for _, id := range all {
		b, err := Load(fsys, stateDir, id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		infos = append(infos, b.Info())
	}
	return infos, errors.Join(errs...)
}

// Load reads a backup. The error wraps ErrNotFound if there is none of that id, and is a *journal error otherwise: a journal that is
// damaged, of another user, or was copied from elsewhere is refused.
func Load(fsys afero.Fs, stateDir, id string) (*Backup, error) {
	if !journal.ValidID(id) {
		return nil, fmt.Errorf("%w: %q is no backup id", ErrNotFound, id)
	}
	dir := path.Join(stateDir, journal.BackupsDir, id)
	data, err := afero.ReadFile(fsys, path.Join(dir, journal.DoneFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	if err != nil {
		return nil, fmt.Errorf("backup %s: %w", id, err)
	}
	key, err := journal.KeyFor(fsys)
	if err != nil {
		return nil, fmt.Errorf("backup %s: %w", id, err)
	}
	plan, err := journal.Decode(data, key)
	if err != nil {
		return nil, fmt.Errorf("backup %s: %w", id, err)
	}
	if plan.ID != id || plan.StateDir != stateDir {
		return nil, fmt.Errorf("backup %s: its journal is that of %s in %s", id, plan.ID, plan.StateDir)
	}
	return &Backup{fs: fsys, dir: dir, plan: plan}, nil
}

// Info says what the backup is.
func (b *Backup) Info() Info {
	info := Info{
		ID: b.plan.ID, Time: b.plan.Time.UTC(), Pipeline: b.plan.Pipeline, RunID: b.plan.RunID, TrashOnly: !b.plan.Keep,
		Paths: []string{},
	}
	for i := range b.plan.Records {
		r := &b.plan.Records[i]
		if !b.plan.Kept(r) {
			continue
		}
		info.Paths = append(info.Paths, r.Path)
		if r.Image != journal.NoImage {
			info.Bytes += r.Old.Size
		}
	}
	return info
}

// Verify reads every file that is kept and compares it with the journal. The error is a *DamageError with all files that
// differ.
func (b *Backup) Verify() error {
	damage := &DamageError{ID: b.plan.ID}
	for i := range b.plan.Records {
		r := &b.plan.Records[i]
		if r.Image == journal.NoImage || !b.plan.Kept(r) {
			continue
		}
		if err := b.verify(r); err != nil {
			damage.Paths = append(damage.Paths, r.Path)
			damage.Errs = append(damage.Errs, err)
		}
	}
	if len(damage.Paths) > 0 {
		return damage
	}
	return nil
}

var errOtherBytes = errors.New("its bytes are not the ones that were kept")

func (b *Backup) verify(r *journal.Record) error {
	data, err := b.image(r)()
	if err != nil {
		return err
	}
	defer data.Close()
	h, err := hashOf(data)
	if err == nil && h != r.Old.Hash {
		err = errOtherBytes
	}
	return err
}

// image opens the file that a path had before.
func (b *Backup) image(r *journal.Record) fsutil.Opener {
	name := path.Join(b.dir, journal.OldDir, journal.Slot(r.Slot))
	return func() (io.ReadCloser, error) { return b.fs.Open(name) }
}
