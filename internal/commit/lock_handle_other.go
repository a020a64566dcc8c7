//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package commit

import "io/fs"

func handleID(handled, fs.FileInfo) (string, error) { return "", errNoHandle }
func tryHandle(handled) (bool, error)               { return false, errNoHandle }
func unlockHandle(handled) error                    { return nil }
