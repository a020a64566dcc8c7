// Package modes describes the bits of a file's mode: kind, permissions, and the bits that the umask clears.
package modes

import (
	"io/fs"

	"github.com/millrace-go/millrace/change"
)

// KindOf returns the kind that a mode's type bits mean.
func KindOf(mode fs.FileMode) change.Kind {
	switch mode.Type() {
	case 0:
		return change.File
	case fs.ModeDir:
		return change.Dir
	case fs.ModeSymlink:
		return change.Symlink
	default:
		return change.Other
	}
}

// PermBits are the bits of a mode that millrace keeps and restores.
const PermBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Bits returns type bits for which [KindOf] returns the kind.
func Bits(k change.Kind) fs.FileMode {
	switch k {
	case change.Dir:
		return fs.ModeDir
	case change.Symlink:
		return fs.ModeSymlink
	case change.Other:
		return fs.ModeIrregular
	default:
		return 0
	}
}
