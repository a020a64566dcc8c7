//go:build !linux

package commit_test

import "errors"

// unlockableFs would be a mount that cannot lock directories.
type unlockableFs struct{ plainFs }

var errNoSuchHandle = errors.New("no handle that cannot be locked")
