package cli

import (
	"fmt"
	"io"
	"path"
	"path/filepath"

	"github.com/millrace-go/millrace"
)

// showNames writes the names of the files that a plan changes, relative to the working directory so that they can be
// used as arguments. A directory has a line only if nothing in it changes.
func (s *session) showNames(w io.Writer, plan *millrace.Plan) error {
	outline := plan.Outline()
	above := make(map[string]bool)
	for _, c := range outline {
		above[path.Dir(c.Path)] = true
	}
	for _, c := range outline {
		if isDir(c) && above[c.Path] {
			continue
		}
		name, err := filepath.Rel(s.dir, filepath.Join(s.root, filepath.FromSlash(c.Path)))
		if err != nil {
			return err
		}
		if s.flags.nul {
			_, err = io.WriteString(w, name+"\x00")
		} else {
			_, err = fmt.Fprintln(w, shown(s.Stdout, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
