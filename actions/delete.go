package actions

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// Delete removes files. They are kept in the trash inside the state directory and can be restored, unless Permanent
// is set. A symbolic link is removed itself, not its target. A directory is refused unless Recursive is set. Then it
// is removed with its contents, ignored files too, and the outcome names the files and links in it, or the directory
// itself if it is empty.
type Delete struct {
	Files     []string `json:"files,omitempty" doc:"Files to delete. Leave it out if an earlier step gives them."`
	Recursive bool     `json:"recursive,omitempty" doc:"Also delete directories with their contents."`
	Permanent bool     `json:"permanent,omitempty" doc:"Do not keep the files in the trash."`
}

// Spec implements [Action].
func (Delete) Spec() Spec {
	return Spec{Name: "delete", Summary: "Delete files, by default into the trash", Input: InputFiles}
}

// Touches implements [Toucher].
func (d Delete) Touches() (reads, writes []string, known bool) { return d.Files, d.Files, true }

// Run implements [Action]. Nothing is removed unless all of the files can be.
func (d Delete) Run(ctx context.Context, c *Call) (Outcome, error) {
	trees := make([]subtree, len(c.Files))
	for i, file := range c.Files {
		err := checkSource(c, file)
		name := file
		if d.Recursive {
			name = placeOf(c, file) // a link may lead into a directory that is deleted too, or be deleted itself
		}
		if d.Recursive && errors.Is(err, fsutil.ErrIsDir) {
			trees[i], err = subtreeOf(ctx, c, name)
		} else {
			trees[i].files = []string{name}
		}
		if errors.Is(err, fsutil.ErrIsDir) {
			err = fileError(file, worded.Errorf("%w; %v", fsutil.ErrIsDir, wording.Part{
				Kind: kinds.SetRecursive, Text: "set recursive to delete it with all that is in it",
			}))
		}
		if err != nil {
			return Outcome{}, err
		}
	}
	out := Outcome{}
	gone := make(map[string]bool) // one of several names may be a directory that another one is in
	progress := c.progress(len(c.Files))
	for _, tree := range trees {
		dirs := slices.Clone(tree.dirs)
		slices.Reverse(dirs) // each comes after what is in it
		for _, name := range slices.Concat(tree.files, dirs) {
			if err := ctx.Err(); err != nil {
				return Outcome{}, err
			}
			if gone[name] {
				continue
			}
			gone[name] = true
			if err := c.spendPath(workedPath, name); err != nil {
				return Outcome{}, err
			}
			remove := c.FS.Remove
			if d.Permanent {
				remove = c.stage().Discard
			}
			if err := remove(name); err != nil {
				return Outcome{}, fileError(name, err)
			}
		}
		out.Files = append(out.Files, tree.named()...)
		progress.file()
	}
	return out, nil
}

// checkSource returns why a name is not that of a file or a link that could be moved or removed.
func checkSource(c *Call, file string) error {
	info, _, err := c.FS.LstatIfPossible(file)
	if err == nil {
		switch modes.KindOf(info.Mode()) {
		case change.Dir:
			err = fsutil.ErrIsDir
		case change.Other:
			err = fsutil.ErrNotRegular
		}
	}
	return fileError(file, err)
}

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
