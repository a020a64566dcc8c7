// Package outcome bounds and cleans the data, the output and the warnings of one attempt of an action before a run
// keeps them.
package outcome

// The limits of a run whose host sets none, in bytes. A run on a small tree needs at most 512 MiB with them: a
// text exists several times while it is put together, and the collector lets memory grow to twice the used memory.
const (
	// DefaultShownBytes limits the text that the steps of a run show and keep together.
	DefaultShownBytes = 64 << 20
	// DefaultStagedBytes limits the new text that the steps of a run put into files together, and their other staged
	// data.
	DefaultStagedBytes = 64 << 20
)
