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

// Retention describes which runs are kept. Runs that wait or are worked on, and the newest run, are always kept; others
// are kept unless a limit removes them. Children of a fleet are not counted: they are removed with their parent, which
// stays while any of them waits or is worked on. Their data is removed like that of other runs. Foreign runs are
// counted separately, with the same limits except DataAge, so that they do not displace the user's own runs.
type Retention struct {
	// Keep is the number of runs to keep. Zero means 10,000, negative no limit.
	Keep int
	// MaxAge is the largest age of a run, since its last record. Zero means no limit.
	MaxAge time.Duration
	// MaxBytes is the largest total size of the files of runs, in bytes. Zero means no limit.
	MaxBytes int64
	// DataAge is the largest age of the data of a run, and of the directory that its steps share. A run without them can
	// be read, but not resumed. Zero means 14 days, negative no limit.
	DataAge time.Duration
}

func (r Retention) check() error {
	if r.MaxAge < 0 || r.MaxBytes < 0 {
		return errors.New("a Retention with a negative MaxAge or MaxBytes")
	}
	return nil
}
