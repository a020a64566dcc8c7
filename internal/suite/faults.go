package suite

import (
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

// BrokenFs fails to rename to names that end in To, so many Times, or always if that is negative.
type BrokenFs struct {
	afero.Fs
	To    string
	Times int
}

// Rename fails with EIO where it has to.
func (b *BrokenFs) Rename(from, to string) error {
	if b.Times != 0 && strings.HasSuffix(to, b.To) {
		b.Times--
		return syscall.EIO
	}
	return b.Fs.Rename(from, to)
}

// ArmedFs breaks for good when the first file has been renamed into place.
type ArmedFs struct {
	*BrokenFs
	done bool
}

// Rename breaks the file system when it has renamed a.txt.
func (a *ArmedFs) Rename(from, to string) error {
	err := a.BrokenFs.Rename(from, to)
	if err == nil && !a.done && strings.HasSuffix(to, "a.txt") {
		a.done, a.Times = true, -1
	}
	return err
}
