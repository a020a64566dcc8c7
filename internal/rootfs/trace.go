package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Trace is where a name of the system leads to, whether or not there is something.
type Trace struct {
	// End is the absolute name that is left when all links are followed, Links those of the links on the way, in order.
	// None of them leads through a link.
	End   string
	Links []string
}

// maxTraced is how many links a name may lead through, as on Linux.
const maxTraced = 40

var errTooManyLinks = errors.New("too many levels of symbolic links")

// TraceName follows an absolute name, link by link. The end of a link that leads to nothing is what it leads to.
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
		// Paths that this process cannot look at can be neither read nor written by it.
		return "", nil
	}
	return os.Readlink(name)
}

// In returns the path of an absolute name without links, as it counts from a directory that is known by what it is, for
// a tree says nothing of what it is called. ok is false if it does not lie there.
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
