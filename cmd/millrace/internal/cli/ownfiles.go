package cli

import (
	"path/filepath"
	"strings"
)

// leaveOut excludes the files that the command reads and writes from its change: a search that finds its own plan, or
// its events, would change them.
func (s *session) leaveOut() {
	for _, name := range append([]string{s.flags.store, s.flags.events}, s.inputs...) {
		if name == "" || name == "-" {
			continue
		}
		full := s.base(name)
		names := []string{full}
		if real, err := filepath.EvalSymlinks(full); err == nil {
			names = append(names, real)
		}
		for _, full := range names {
			if path, err := treePath(s.root, s.root, realParent(full)); err == nil {
				s.x.DeniedPaths = append(s.x.DeniedPaths, exactly(path))
			}
		}
	}
}

// exactly returns a glob for one path of the tree. A glob without a slash would match every file of that name.
func exactly(path string) string {
	var b strings.Builder
	for i := range len(path) { // byte by byte, because a name need not be UTF-8
		if strings.IndexByte(`\*?[]{},`, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return "{" + b.String() + "," + b.String() + "/*}"
}
