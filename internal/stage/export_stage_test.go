package stage

// SetLimits sets how many bytes a stage holds of staged files and of files that were read.
func SetLimits(s *Stage, spillAt, cache int64) {
	s.core.spillAt = spillAt
	s.core.base.cache.limit = cache
}

// Spilled returns how many bytes the spill file of a stage has.
func Spilled(s *Stage) int64 { return s.core.spill.end }
