//go:build !linux

package commit_test

import (
	"errors"

	"github.com/spf13/afero"
)

// unlockable would be a mount that cannot lock directories.
func unlockable(root afero.Fs) afero.Fs { return root }

var errNoSuchHandle = errors.New("no handle that cannot be locked")
