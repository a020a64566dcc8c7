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

// Delete removes files. They are kept in the trash inside the state directory and can be restored, unless Permanent is
// set. For a symbolic link, the link is removed, not its target. A directory is refused unless Recursive is set. Then
// it is removed with its contents, including ignored files, and the outcome names the files and links in it, or the
// directory itself if it is empty.
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

// Run implements [Action]. Nothing is removed unless all files can be removed.
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
	gone := make(map[string]bool) // one name may be a directory that contains another
	progress := c.progress(len(c.Files))
	for _, tree := range trees {
		dirs := slices.Clone(tree.dirs)
		slices.Reverse(dirs) // each comes after its contents
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

// checkSource returns an error unless a name is a file or a link that could be moved or removed.
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

// subtree is a directory on the stage with everything below it.
type subtree struct {
	files []string // and links, in path order
	dirs  []string // each before its contents
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

// named returns the paths that a step names after it has moved or deleted the directory: its files, or the directory
// itself if it has none.
func (t subtree) named() []string {
	if len(t.files) == 0 {
		return t.dirs[:1]
	}
	return t.files
}
