//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package commit

import (
	"io/fs"

	"github.com/millrace-go/millrace/fsutil"
)

func handleID(handled, fs.FileInfo) (string, error) { return "", errNoHandle }
func handleIdentity(handled, fs.FileInfo) (fsutil.Identity, error) {
	return fsutil.Identity{}, errNoHandle
}
func tryHandle(handled) (bool, error) { return false, errNoHandle }
func unlockHandle(handled) error      { return nil }
