package rundir

import (
	"errors"
	"time"
)

// The zero [Retention].
const (
	defaultKeep    = 10_000
	defaultDataAge = 14 * 24 * time.Hour
)

// Retention says which runs are kept: those that wait for something or are worked on, and the newest, whatever the
// limits are; of the others, those that no limit removes. Children of a fleet are not counted: they are removed with
// their parent, which stays as long as one of them waits or is worked on. Their data is removed like that of others.
// Foreign runs are counted by themselves, with the same limits but DataAge, so that they take the place of none of the
// user's own.
type Retention struct {
	// Keep is how many runs are kept. Zero means 10,000, negative no limit.
	Keep int
	// MaxAge is how old a run may be, from its last record on. Zero means no limit.
	MaxAge time.Duration
	// MaxBytes is how many bytes the files of runs may have together. Zero means no limit.
	MaxBytes int64
	// DataAge is how old the data of a run may be, and the directory that its steps share. A run without them can be
	// looked at, and not resumed. Zero means 14 days, negative no limit.
	DataAge time.Duration
}

func (r Retention) check() error {
	if r.MaxAge < 0 || r.MaxBytes < 0 {
		return errors.New("a Retention with a negative MaxAge or MaxBytes")
	}
	return nil
}
