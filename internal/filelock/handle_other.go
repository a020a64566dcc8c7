//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package filelock

import (
	"io/fs"

	"github.com/millrace-go/millrace/capability"
)

func handleID(handled, fs.FileInfo) (string, error) { return "", ErrNoHandle }
func handleIdentity(handled, fs.FileInfo) (capability.Identity, error) {
	return capability.Identity{}, ErrNoHandle
}
func tryHandle(handled) error    { return ErrNoHandle }
func unlockHandle(handled) error { return nil }
