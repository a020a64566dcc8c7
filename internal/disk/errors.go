package disk

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/names"
)

// IsAbsent reports whether the error means that the name is missing.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, names.ErrNotDir) || errors.Is(err, syscall.ENOTDIR)
}

// UnlessAbsent returns the error, or nil if the error means that the name is missing.
func UnlessAbsent(err error) error {
	if IsAbsent(err) {
		return nil
	}
	return err
}

// IsExist reports whether the error means that the name exists.
func IsExist(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, names.ErrNotEmpty)
}

// IsUnsupported reports whether the error means that the file system, this mount, or this file does not support the
// operation, so the caller can try another way. EIO and ENOSPC do not mean that.
func IsUnsupported(err error) bool {
	all := []error{errors.ErrUnsupported, syscall.EINVAL, syscall.EPERM, syscall.EMLINK, syscall.EXDEV,
		afero.ErrNoSymlink}
	return slices.ContainsFunc(all, func(e error) bool { return errors.Is(err, e) })
}

// IsCrossDevice reports whether the error means that two names are on different mounts.
func IsCrossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }
