// Package outcome bounds and cleans the data, the output and the warnings of one attempt of an action before a run
// keeps them.
package outcome

// The limits of a run whose host sets none, in bytes. A run on a small tree takes no more than 512 MiB with them: a
// text is there several times while it is put together, and the collector lets memory grow to twice of what is in use.
const (
	// DefaultShownBytes is how much text the steps of a run show and keep together.
	DefaultShownBytes = 64 << 20
	// DefaultStagedBytes is how much new text the steps of a run put into files together, and what they stage beside
	// that.
	DefaultStagedBytes = 64 << 20
)
