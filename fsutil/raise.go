package fsutil

import "github.com/spf13/afero"

// Raise returns the file system itself or a more able view of it.
func Raise(fsys afero.Fs) (afero.Fs, error) {
	if fsys == nil {
		return nil, ErrNoFs
	}
	return fsys, nil
}
