//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package rootfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// openDirectory opens only directories. So it never waits for the other end of a pipe.
func (b beneath) openDirectory(clean string) (*os.File, error) {
	return b.OpenFile(clean, os.O_RDONLY|unix.O_DIRECTORY|openNoWait, 0)
}

// copyAttributes copies nothing: on these systems extended attributes belong to one file, for example quarantine marks
// and compression.
func copyAttributes(int, string, int, string) error { return nil }

// within calls do with a handle of a directory, which is for names in the directory.
func (b beneath) within(dir string, do func(fd int) error) error {
	file, err := b.openDirectory(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	return do(int(file.Fd()))
}
