package planfile

import (
	"fmt"
	"path"

	"github.com/millrace-go/millrace/internal/stage"
)

// ways says where the directories of changes are. The paths of a plan are those that are left when all links are
// resolved, so one that leads through a link is not what a run has worked out, and would be read where the host's
// rules do not see it.
type ways struct {
	stage *stage.Stage
	known map[string]error
}

// check returns why the directories of the names are not what they seem.
func (w *ways) check(names ...string) error {
	for _, name := range names {
		if err := w.dir(path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

func (w *ways) dir(dir string) error {
	if dir == "." || dir == "/" {
		return nil
	}
	err, ok := w.known[dir]
	if !ok {
		resolved, cause := w.stage.Resolve(dir)
		switch {
		case cause != nil: // it is not there, or what it is in is not
			err = w.dir(path.Dir(dir))
		case resolved != dir:
			err = fmt.Errorf("%s leads through a symbolic link, to %s", dir, resolved)
		}
		w.known[dir] = err
	}
	return err
}
