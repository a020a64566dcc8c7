//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package commit

import (
	"io/fs"

	"github.com/millrace-go/millrace/capability"
)

func handleID(handled, fs.FileInfo) (string, error) { return "", errNoHandle }
func handleIdentity(handled, fs.FileInfo) (capability.Identity, error) {
	return capability.Identity{}, errNoHandle
}
func tryHandle(handled) error    { return errNoHandle }
func unlockHandle(handled) error { return nil }
