package rootfs

import (
	"strings"

	"github.com/millrace-go/millrace/internal/names"
)

// checkEntryName returns what is wrong with the name of an entry of a directory: it must be one part of a path.
func checkEntryName(name string) error {
	switch {
	case name == "":
		return names.ErrEmptyPath
	case name == "." || name == "..":
		return names.ErrIsDir
	case strings.IndexByte(name, 0) >= 0:
		return names.ErrBadName
	case strings.IndexByte(name, '/') >= 0:
		return names.ErrEscape
	case len(name) > names.MaxName:
		return names.ErrNameTooLong
	}
	return nil
}
