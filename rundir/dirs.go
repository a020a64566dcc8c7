package rundir

import (
	"context"

	"github.com/millrace-go/millrace/fleet"
)

// dirs open directories below one directory.
type dirs struct{ below fleet.Dirs }

// Dirs returns Trees for [Host], of which each project is the directory of that name below dir: "shop", "team/shop", or
// "." for dir itself. Of the target of a fleet it is the directory that the root of the target names. Nothing leads out
// of dir: neither "..", nor an absolute name, nor a symbolic link. An empty dir is the working directory.
func Dirs(dir string) fleet.Trees {
	if dir == "" {
		dir = "."
	}
	return dirs{fleet.Dirs{Within: dir}}
}

// Open implements [fleet.Trees].
func (d dirs) Open(ctx context.Context, t fleet.Target) (fleet.Tree, error) {
	if t.Root == "" {
		t.Root = t.ID
	}
	return d.below.Open(ctx, t)
}
