//go:build !linux

package rootfs

import "os"

// beneath is an [os.Root]. On Linux it has a fast path.
type beneath struct{ *os.Root }

func openBeneath(dir string) (beneath, error) {
	root, err := os.OpenRoot(dir)
	return beneath{root}, err
}
