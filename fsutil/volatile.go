package fsutil

// Volatile is a file system that knows whether what is written to it lives and dies with the process. One that does not
// say so is taken to outlive it.
type Volatile interface {
	InMemory() bool
}

var _ Volatile = (*memFs)(nil)

// InMemory implements [Volatile].
func (m *memFs) InMemory() bool { return true }
