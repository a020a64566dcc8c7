package scratch

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

func errLeadsOut(link, target string) error {
	return fmt.Errorf("%w: the command has left the symbolic link %s, which leads to %s", names.ErrEscape, link, target)
}

// escapes reports whether a symbolic link leads out of the tree. A missing directory may still be made, so the rest of
// a path through it is not resolved.
func escapes(link string, look func(name string) (change.Kind, string)) bool {
	const mostLinks = 40
	at := path.Dir(link)
	rest := path.Base(link)
	for links := 0; rest != ""; {
		part, after := rest, ""
		for i := range len(rest) {
			if rest[i] == '/' {
				part, after = rest[:i], rest[i+1:]
				break
			}
		}
		rest = after
		switch part {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return true
			}
			at = path.Dir(at)
			continue
		}
		at = names.Join(at, part)
		kind, target := look(at)
		if kind != change.Symlink {
			continue
		}
		if path.IsAbs(target) || filepath.VolumeName(target) != "" {
			return true
		}
		if links++; links > mostLinks {
			return false // it leads nowhere
		}
		at, rest = path.Dir(at), target+"/"+rest
	}
	return false
}
