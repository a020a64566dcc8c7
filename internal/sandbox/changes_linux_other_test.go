//go:build linux && !amd64

package sandbox_test

// oldChanges are calls that other architectures never had.
var oldChanges map[string]func(args []string) error

// more makes the calls that exist only on amd64: none.
func more(func(string, uintptr, ...uintptr), func(string) uintptr, func(...int64) uintptr) {}
