package actions

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/millrace-go/millrace/change"
)

// Rename moves files to a directory, or renames them. It works like [Copy], but moves a symbolic link itself. A file
// may get the name of another file that the same step renames: all new names are computed before anything moves, so
// names can be swapped and numbers shifted. A directory is moved with all its contents, including files that .gitignore
// excludes. The outcome then names the files and links in it. Without any, it names the directory itself.
//
// Pattern and Replacement change a part of each name, with the syntax of a [RegexTransform]. The name is the path of
// the file relative to Base. Files whose path does not match stay, and are not in the outcome. Renames is a list of old
// and new names, of files and directories.
type Rename struct {
	Files         []string          `json:"files,omitempty" doc:"Files to rename. Leave it out if an earlier step gives them."`
	Destination   string            `json:"destination,omitempty" doc:"Directory to move to, created if needed."`
	To            string            `json:"to,omitempty" doc:"New name; for several files with parts of the old names: {{dir}}, {{stem}}, {{ext}} (with its dot), {{name}}."`
	Pattern       string            `json:"pattern,omitempty" doc:"Regular expression (RE2) for the part to change in each path from base."`
	Replacement   *string           `json:"replacement,omitempty" doc:"Replacement of each match of pattern. $1 and ${name} are groups."`
	Renames       map[string]string `json:"renames,omitempty" doc:"New name of each old name, instead of files; names can be swapped."`
	Base          string            `json:"base,omitempty" doc:"Directory from which preserve_paths, or {{dir}} with a destination, counts. Default: the root."`
	PreservePaths bool              `json:"preserve_paths,omitempty" doc:"Keep the directories of the files below the destination."`
	Overwrite     bool              `json:"overwrite,omitempty" doc:"Replace existing files; by default an error."`
}

func (a Rename) transfer() transfer {
	p := params{Files: a.Files, Destination: a.Destination, To: a.To, Base: a.Base, PreservePaths: a.PreservePaths,
		Overwrite: a.Overwrite}
	return transfer{params: p, action: "rename", moves: true}
}

// Spec implements [Action].
func (Rename) Spec() Spec {
	return Spec{Name: "rename", Summary: "Move files to a directory or give them new names", Input: InputFiles}
}

// Run implements [Action]. The outcome has the new paths, and maps the old paths to them.
func (a Rename) Run(ctx context.Context, c *Call) (Outcome, error) {
	moves, err := a.plan(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	if err := stepAside(c, moves); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Renames: make(map[string]string, len(moves))}
	progress := c.progress(len(moves))
	for _, m := range moves {
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		inside := subtree{files: []string{m.fromPlace}}
		if m.dir { // the directory itself is counted, its contents are not
			if inside, err = subtreeOf(ctx, c, m.fromPlace); err != nil {
				return Outcome{}, err
			}
		}
		if err := makeDir(c, m.to); err != nil {
			return Outcome{}, err
		}
		if err := c.FS.Rename(m.fromPlace, m.to); err != nil {
			return Outcome{}, fileError(m.from, err)
		}
		for _, name := range inside.named() {
			rest := strings.TrimPrefix(name, m.fromPlace)
			if rest != "" {
				if err := c.spendPath(workedPath, name, m.to+rest); err != nil {
					return Outcome{}, err
				}
			}
			out.Files = append(out.Files, m.to+rest)
			out.Renames[m.from+rest] = m.to + rest
		}
		progress.file()
	}
	return out, nil
}

// stepAside gives temporary names to the files whose names other files get, and records their present names.
func stepAside(c *Call, moves []move) error {
	taken := make(map[string]bool, len(moves))
	for _, m := range moves {
		taken[m.toPlace] = true
	}
	n := 0
	for i := range moves {
		m := &moves[i]
		if !taken[m.fromPlace] {
			continue
		}
		aside, err := asideOf(c, m.fromPlace, &n, taken)
		if err == nil {
			err = c.spendPath(workedPath, aside)
		}
		if err == nil {
			err = c.FS.Rename(m.fromPlace, aside)
		}
		if err != nil {
			return namedUnlessOfStep(m.from, err)
		}
		m.fromPlace = aside
	}
	return nil
}

// asideOf returns an unused name in the directory of another name, which no other file will get. It counts on from *n.
func asideOf(c *Call, name string, n *int, taken map[string]bool) (string, error) {
	for {
		aside := path.Join(path.Dir(name), fmt.Sprintf(".millrace-aside-%d", *n))
		*n++
		kind, err := kindAt(c, aside)
		if err != nil || kind == change.Absent && !taken[aside] {
			return aside, err
		}
	}
}
