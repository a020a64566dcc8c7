package commit

import (
	"errors"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
)

// placeOf returns what tells a directory of this library from another: the identity that the file system gives, or
// else that of the handle it gives. So a transaction that was begun through a file system which wraps the one of the
// operating system can be dealt with through a [fsutil.RootFs] of the same directory, and the other way round. It is
// zero if there is neither.
func placeOf(d *disk.Disk, dir string, s change.State) (capability.Identity, error) {
	if s.ID.Ino != 0 || d.Memory {
		return s.ID, nil
	}
	f, err := d.FS.Open(dir)
	if err != nil {
		return capability.Identity{}, err
	}
	defer f.Close()
	h := handleOf(f)
	if h == nil {
		return capability.Identity{}, nil
	}
	info, err := d.FS.Stat(dir)
	if err != nil {
		return capability.Identity{}, err
	}
	id, err := handleIdentity(h, info)
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return id, err
}
