package actions

import (
	"context"

	"github.com/millrace-go/millrace/change"
)

// Copy copies files, with their permission bits except setuid and setgid, to a directory or to new names. Symbolic
// links are followed.
//
// With Destination alone a file keeps its base name, or with PreservePaths its path, as seen from Base. To gives it a
// new name, relative to Destination if that is set too. If any new name collides with another new name or an existing
// file, nothing is copied, and the error lists all collisions.
type Copy struct {
	Files         []string `json:"files,omitempty" doc:"Files to copy. Leave it out if an earlier step gives them."`
	Destination   string   `json:"destination,omitempty" doc:"Directory to copy to, created if needed."`
	To            string   `json:"to,omitempty" doc:"New name; for several files with parts of the old names: {{dir}}, {{stem}}, {{ext}} (with its dot), {{name}}."`
	Base          string   `json:"base,omitempty" doc:"Directory from which preserve_paths, or {{dir}} with a destination, counts. Default: the root."`
	PreservePaths bool     `json:"preserve_paths,omitempty" doc:"Keep the directories of the files below the destination."`
	Overwrite     bool     `json:"overwrite,omitempty" doc:"Replace existing files; by default an error."`
}

func (a Copy) transfer() transfer { return transfer{params: params(a), action: "copy"} }

// Spec implements [Action].
func (Copy) Spec() Spec {
	return Spec{Name: "copy", Summary: "Copy files to a directory or to new names", Input: InputFiles}
}

// Validate implements [Validator].
func (a Copy) Validate(c *Check) { a.transfer().validate(c) }

// Touches implements [Toucher].
func (a Copy) Touches() (reads, writes []string, known bool) { return a.transfer().touches(a.Files) }

// Run implements [Action]. The outcome has the new paths, and maps the old paths to them.
func (a Copy) Run(ctx context.Context, c *Call) (Outcome, error) {
	moves, err := a.transfer().plan(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Renames: make(map[string]string, len(moves))}
	progress := c.progress(len(moves))
	for _, m := range moves {
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		if err := copyOne(c, m); err != nil {
			return Outcome{}, err
		}
		out.Files = append(out.Files, m.to)
		out.Renames[m.from] = m.to
		progress.file()
	}
	return out, nil
}

func copyOne(c *Call, m move) error {
	if err := makeDir(c, m.to); err != nil {
		return err
	}
	if kind, err := kindAt(c, m.to); err != nil {
		return fileError(m.to, err)
	} else if kind != change.Absent {
		// The plan has checked that it may be overwritten.
		if err := c.stage().Replace(m.to); err != nil {
			return fileError(m.to, err)
		}
	}
	if err := c.spendCopy(m.from); err != nil {
		return err
	}
	return fileError(m.to, c.FS.Copy(m.from, m.to))
}
