package capability

// Volatile is a file system that knows whether what is written to it lives and dies with the process. One that does not
// say so is taken to outlive it.
type Volatile interface {
	InMemory() bool
}
