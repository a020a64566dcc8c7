package scratch

import (
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/rootfs"
)

// hidesMapped reports whether the times of a file do not show writes through mapped memory, as on tmpfs. The file is
// the lock of the place, and the clock has advanced since the last write to the lock.
func (l *lock) hidesMapped() (bool, error) {
	before, err := rootfs.LookInto(l)
	if err != nil {
		return false, err
	}
	page, err := unix.Mmap(int(l.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return false, nil // no program can map files here
	}
	page[0]++
	if err := unix.Munmap(page); err != nil {
		return false, err
	}
	after, err := rootfs.LookInto(l)
	return err == nil && after.MTime == before.MTime, err
}

// makeMappable gives the lock a byte.
func (l *lock) makeMappable() error { return unix.Ftruncate(int(l.Fd()), 1) }
