package actions

import (
	"context"

	"github.com/millrace-go/millrace/fsutil"
)

// Delete removes files. They are kept in the trash inside the state directory and can be restored, unless
// Permanent is set. A symbolic link is removed itself, not what it leads to. Directories are refused.
type Delete struct {
	Files     []string `json:"files,omitempty" doc:"Files to delete. Leave it out if an earlier step gives them."`
	Permanent bool     `json:"permanent,omitempty" doc:"Do not keep the files in the trash, from which they can be restored."`
}

// Spec implements [Action].
func (Delete) Spec() Spec {
	return Spec{Name: "delete", Summary: "Delete files, by default into the trash", Input: InputFiles}
}

// Touches implements [Toucher].
func (d Delete) Touches() (reads, writes []string, known bool) { return d.Files, d.Files, true }

// Run implements [Action]. Nothing is removed unless all of the files can be.
func (d Delete) Run(ctx context.Context, c *Call) (Outcome, error) {
	for _, file := range c.Files {
		if err := checkSource(c, file); err != nil {
			return Outcome{}, err
		}
	}
	out := Outcome{}
	for i, file := range c.Files {
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		remove := c.FS.Remove
		if d.Permanent {
			remove = c.FS.Discard
		}
		if err := remove(file); err != nil {
			return Outcome{}, fileError(file, err)
		}
		out.Files = append(out.Files, file)
		if c.OnProgress != nil {
			c.OnProgress(i+1, len(c.Files))
		}
	}
	return out, nil
}

// checkSource returns why a name is not that of a file or a link that could be moved or removed.
func checkSource(c *Call, file string) error {
	info, _, err := c.FS.LstatIfPossible(file)
	if err == nil {
		switch fsutil.KindOf(info.Mode()) {
		case fsutil.Dir:
			err = fsutil.ErrIsDir
		case fsutil.Other:
			err = fsutil.ErrNotRegular
		}
	}
	return fileError(file, err)
}
