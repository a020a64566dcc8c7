package backup

import (
	"errors"
	"path"
	"slices"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/journal"
)

// DefaultKeep is how many backups are kept unless a Retention says otherwise.
const DefaultKeep = 20

// Retention says which backups are removed after a commit. The newest one is always kept.
type Retention struct {
	// Keep is how many are kept. Zero means DefaultKeep, negative means all.
	Keep int
	// MaxAge is how old one can get. Zero means any age.
	MaxAge time.Duration
	// MaxBytes is how much the files in all of them may be. Zero means any size.
	MaxBytes int64
}

// Prune removes the backups that the retention does not keep, oldest first. One that cannot be read counts as one, and is
// removed by its age and its number like the others. The caller holds the lock of the tree.
func Prune(fsys afero.Fs, stateDir string, r Retention) error {
	all, err := ids(fsys, stateDir)
	if err != nil {
		return err
	}
	keep := r.Keep
	if keep == 0 {
		keep = DefaultKeep
	}
	var errs []error
	var bytes int64
	for i, id := range slices.Backward(all) {
		newer := len(all) - 1 - i
		if newer == 0 && r.MaxBytes == 0 {
			continue
		}
		tooMany := keep > 0 && newer >= keep
		tooOld := r.MaxAge > 0 && time.Since(made(id)) > r.MaxAge
		if r.MaxBytes > 0 && !tooMany && !tooOld {
			if b, err := Load(fsys, stateDir, id); err == nil {
				bytes += b.Info().Bytes
			}
		}
		if newer > 0 && (tooMany || tooOld || r.MaxBytes > 0 && bytes > r.MaxBytes) {
			errs = append(errs, fsys.RemoveAll(path.Join(stateDir, journal.BackupsDir, id)))
		}
	}
	return errors.Join(errs...)
}

// made is when the backup of that id was made.
func made(id string) time.Time {
	const stamp = "20060102_150405"
	t, err := time.Parse(stamp, id[:len(stamp)])
	if err != nil {
		return time.Now()
	}
	return t
}
