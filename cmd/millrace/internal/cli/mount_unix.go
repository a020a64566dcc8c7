//go:build unix

package cli

import (
	"os"
	"syscall"
)

// sameMount reports whether two directories are on the same file system.
func sameMount(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	if err != nil {
		return false
	}
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	return ok && also && x.Dev == y.Dev
}
