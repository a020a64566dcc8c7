package backup

import "time"

// DefaultKeep is how many backups the zero Retention keeps.
const DefaultKeep = 20

// Retention says which backups are kept, and in the same way which results of runs and which conflicts. The limits
// hold together: a backup goes if any of them says so. The newest is always kept. The zero Retention keeps the newest
// [DefaultKeep], of results [DefaultKeepRuns], however old and large.
type Retention struct {
	// Keep is how many are kept. Zero means DefaultKeep, for results DefaultKeepRuns; negative means no limit.
	Keep int
	// MaxAge is how old a backup may be. Zero means no limit.
	MaxAge time.Duration
	// MaxBytes is how many bytes the kept files may have together, hard links counted as if they were copies. Zero means
	// no limit.
	MaxBytes int64
}

// DefaultKeepRuns is how many results of runs are kept by default.
const DefaultKeepRuns = 1000
