package actions

import (
	"context"
	"path"
	"slices"

	"github.com/millrace-go/millrace/change"
)

// subtree is what lies below a directory on the stage, the directory itself included.
type subtree struct {
	files []string // and links, in path order
	dirs  []string // each before what is in it
}

// subtreeOf lists a directory. Links are not followed.
func subtreeOf(ctx context.Context, c *Call, dir string) (subtree, error) {
	t := subtree{dirs: []string{dir}}
	for i := 0; i < len(t.dirs); i++ {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		f, err := c.FS.Open(t.dirs[i])
		if err != nil {
			return t, fileError(t.dirs[i], err)
		}
		names, err := f.Readdirnames(-1)
		_ = f.Close() // it was only read
		if err != nil {
			return t, fileError(t.dirs[i], err)
		}
		for _, name := range names {
			full := path.Join(t.dirs[i], name)
			switch kind, err := kindAt(c, full); {
			case err != nil:
				return t, fileError(full, err)
			case kind == change.Dir:
				t.dirs = append(t.dirs, full)
			default:
				t.files = append(t.files, full)
			}
		}
	}
	slices.Sort(t.files)
	slices.Sort(t.dirs)
	return t, nil
}

// named returns the files, or the directory itself if there are none in it: what a step that moved or deleted it names.
func (t subtree) named() []string {
	if len(t.files) == 0 {
		return t.dirs[:1]
	}
	return t.files
}
