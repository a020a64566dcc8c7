package rundir

import (
	"context"

	"github.com/millrace-go/millrace/fleet"
)

// dirs open directories below one directory.
type dirs struct{ below fleet.Dirs }

// Dirs returns Trees for [Host]. Each project is the directory with its name below dir: "shop", "team/shop", or "." for
// dir itself. The target of a fleet is the directory that its root names. Nothing can leave dir: neither "..", nor an
// absolute name, nor a symbolic link. An empty dir is the working directory.
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
