//go:build linux && !amd64

package sandbox_test

// oldChanges are calls that other architectures never had.
var oldChanges map[string]func(args []string) error
