package fsutil

import "strings"

// checkEntryName returns what is wrong with the name of an entry of a directory: it must be one part of a path.
func checkEntryName(name string) error {
	switch {
	case name == "":
		return ErrEmptyPath
	case name == "." || name == "..":
		return ErrIsDir
	case strings.IndexByte(name, 0) >= 0:
		return ErrBadName
	case strings.IndexByte(name, '/') >= 0:
		return ErrEscape
	case len(name) > MaxName:
		return ErrNameTooLong
	}
	return nil
}
