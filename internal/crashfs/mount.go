package crashfs

import (
	"path"
	"slices"
	"syscall"
)

// Mount makes a file a mount point, like a single file mounted into a container: it can be written to, but not moved,
// linked, replaced or removed. It remains a mount point after a crash.
func (f *Fs) Mount(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mounts = append(slices.Clip(f.mounts), path.Clean(name))
}

// MountPoints returns the canonical paths of all mount points.
func (f *Fs) MountPoints() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.mounts)
}

// busy returns EBUSY if any of the paths is a mount point.
func (d *disk) busy(paths ...string) error {
	for _, name := range paths {
		if slices.Contains(d.mounts, path.Clean(name)) {
			return syscall.EBUSY
		}
	}
	return nil
}
