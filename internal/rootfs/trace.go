package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Trace is the result of following the links of an absolute name. The file at its end may be missing.
type Trace struct {
	// End is the absolute name after all links were followed. Links are the absolute names of the links on the way, in
	// order. No directory in End or Links is a link.
	End   string
	Links []string
}

// maxTraced limits the links that a name leads through, as on Linux.
const maxTraced = 40

var errTooManyLinks = errors.New("too many levels of symbolic links")

// TraceName follows an absolute name, link by link. End is then the missing name if a link leads to a missing file.
func TraceName(name string) (Trace, error) {
	var t Trace
	at, rest := split(filepath.Clean(name))
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, string(filepath.Separator))
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		target, err := readlink(next)
		if err != nil {
			return Trace{}, err
		}
		if target == "" {
			at = next
			continue
		}
		t.Links = append(t.Links, next)
		if len(t.Links) > maxTraced {
			return Trace{}, &fs.PathError{Op: "readlink", Path: name, Err: errTooManyLinks}
		}
		target = filepath.FromSlash(target)
		if filepath.IsAbs(target) {
			at, target = split(target)
		}
		rest = target + string(filepath.Separator) + rest
	}
	t.End = at
	return t, nil
}

// split parts an absolute name into its root and the rest.
func split(name string) (root, rest string) {
	volume := filepath.VolumeName(name)
	return volume + string(filepath.Separator), strings.TrimLeft(name[len(volume):], string(filepath.Separator))
}

// readlink returns the target of a link, "" for all else.
func readlink(name string) (string, error) {
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		// This process can neither read nor write a path that it cannot examine.
		return "", nil
	}
	return os.Readlink(name)
}

// In returns the path of an absolute name without links, relative to the directory top. It compares identities, because
// a tree may not have a name. ok is false if the name is not in the directory.
func In(top fs.FileInfo, name string) (path string, ok bool) {
	for rest := ""; ; {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, top) {
			if rest == "" {
				return ".", true
			}
			return filepath.ToSlash(rest), true
		}
		parent := filepath.Dir(name)
		if parent == name {
			return "", false
		}
		rest, name = filepath.Join(filepath.Base(name), rest), parent
	}
}
