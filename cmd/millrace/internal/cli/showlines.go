package cli

import (
	"io"
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
)

// groupSize is the number of files that showLines reads at a time.
const groupSize = 128

// showLines writes {"file":…} for each change, in path order. Files are read in groups, so that a large plan is not in
// memory as a whole.
func showLines(w io.Writer, plan *millrace.Plan) error {
	var group []string
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		files, err := plan.Files(group...)
		if err != nil {
			return err
		}
		group = group[:0]
		return writeLines(w, files)
	}
	for _, c := range plan.Outline() {
		if !isDir(c) {
			if group = append(group, c.Path); len(group) < groupSize {
				continue
			}
		}
		if err := flush(); err != nil {
			return err
		}
		if isDir(c) {
			if err := lineOfDir(w, plan, c); err != nil {
				return err
			}
		}
	}
	return flush()
}

func isDir(c change.Change) bool { return c.Old.Kind == change.Dir || c.New.Kind == change.Dir }

// lineOfDir writes the line of a change of a directory. For the path of a directory, a plan also returns everything
// below it, which has separate lines. So the plan is only asked if a file is also added or removed at that path.
func lineOfDir(w io.Writer, plan *millrace.Plan, c change.Change) error {
	if !slices.ContainsFunc([]change.State{c.Old, c.New}, func(s change.State) bool {
		return s.Kind == change.File ||
			s.Kind == change.Symlink
	}) {
		return writeLines(w, []millrace.FileDiff{{Kind: c.Kind, Path: c.Path, From: c.From}})
	}
	files, err := plan.Files(c.Path)
	if err != nil {
		return err
	}
	return writeLines(w, slices.DeleteFunc(files, func(f millrace.FileDiff) bool { return f.Path != c.Path }))
}

func writeLines(w io.Writer, files []millrace.FileDiff) error {
	for _, f := range files {
		if err := encodeJSON(w, map[string]millrace.FileDiff{"file": f}); err != nil {
			return err
		}
	}
	return nil
}
