package disk

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/names"
)

// IsAbsent reports whether the error says that there is nothing of that name.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, names.ErrNotDir) || errors.Is(err, syscall.ENOTDIR)
}

// UnlessAbsent returns the error unless it says that there is nothing of that name.
func UnlessAbsent(err error) error {
	if IsAbsent(err) {
		return nil
	}
	return err
}

// IsExist reports whether the error says that something of that name is there.
func IsExist(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, names.ErrNotEmpty)
}

// IsUnsupported reports whether the error says that the file system, or this mount of it, does not do such things, or
// not to this file: then there is another way. EIO and ENOSPC are no such errors.
func IsUnsupported(err error) bool {
	all := []error{errors.ErrUnsupported, syscall.EINVAL, syscall.EPERM, syscall.EMLINK, syscall.EXDEV, afero.ErrNoSymlink}
	return slices.ContainsFunc(all, func(e error) bool { return errors.Is(err, e) })
}

// IsCrossDevice reports whether the error says that two names are on different mounts.
func IsCrossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }
