package actions

import (
	"context"
	"errors"
	"io/fs"

	"github.com/millrace-go/millrace/fsutil"
)

// Create makes files with the same content, and the directories they need. Content is written as it is given.
//
// A file that exists is an error unless Overwrite is set; it keeps its mode then, and is not touched if it has that
// content already. A symbolic link is followed then, and stays. If one of the files cannot be made, none is, and the
// *EditFilesError lists all of them.
type Create struct {
	Path      string   `json:"path,omitempty" doc:"The file to make."`
	Paths     []string `json:"paths,omitempty" doc:"Several files to make, instead of path."`
	Content   string   `json:"content" param:"required,empty" doc:"The text of the file, as it is to be."`
	Overwrite bool     `json:"overwrite,omitempty" doc:"Replace the text of files that exist already, which is an error otherwise."`
}

// Spec implements [Action].
func (Create) Spec() Spec {
	return Spec{Name: "create", Summary: "Make files with a given content", Input: InputNone}
}

// Validate implements [Validator].
func (a Create) Validate(c *Check) {
	several := len(a.Paths) > 0 || c.bound("/paths")
	switch {
	case a.Path == "" && !several && a.Paths != nil && c.IsTemplated == nil:
		// These are the final values, so a template has given an empty list: there is nothing to make. One that is written
		// is a mistake, and would be lost in JSON.
	case a.Path == "" && !several:
		c.Problemf("/path", codeMissingParam, "", "create action requires 'path' or 'paths' parameter")
	case a.Path != "" && several:
		c.Problemf("/paths", codeUnusedParam, "use one of them", "path and paths exclude each other")
	}
}

// Touches implements [Toucher].
func (a Create) Touches() (reads, writes []string, known bool) {
	paths := a.names()
	return paths, paths, true
}

func (a Create) names() []string {
	if a.Path == "" {
		return a.Paths
	}
	return []string{a.Path}
}

// Run implements [Action]. The outcome has all the files, also those that had the content already.
func (a Create) Run(ctx context.Context, c *Call) (Outcome, error) {
	var out Outcome
	var failures []*EditFailure
	names := a.names()
	made := make(map[string]bool, len(names))
	if int64(len(a.Content)) > c.Limits.OutputBytes() {
		return Outcome{}, &LimitError{What: LimitOutput, Limit: c.Limits.OutputBytes(), Got: int64(len(a.Content))}
	}
	progress := c.progress(len(names))
	for _, path := range names {
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		name, err := c.stage().Canonical(path)
		switch {
		case err != nil:
			name = path
		case made[name]:
			continue
		default:
			made[name] = true
			if err := c.spendBytes(int64(len(a.Content))); err != nil {
				return Outcome{}, err
			}
			err = a.one(c, path, name)
		}
		if err != nil {
			failures = append(failures, &EditFailure{Path: name, Index: -1, Err: err})
			continue
		}
		out.Files = append(out.Files, name)
		progress.file()
	}
	if len(names) == 0 {
		c.Warnf("the list of paths is empty")
	}
	if len(failures) > 0 {
		return Outcome{}, &EditFilesError{Failures: failures}
	}
	return out, nil
}

// one makes one file. path is its name as given, name the canonical one.
func (a Create) one(c *Call, path, name string) error {
	_, _, err := c.FS.LstatIfPossible(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeFile(c, path, name, []byte(a.Content))
	case err != nil:
		return err
	case !a.Overwrite:
		return errFileExists
	}
	old, err := c.readFile(path)
	if err != nil {
		return err
	}
	return c.FS.Edit(path, []fsutil.Splice{{Len: int64(len(old)), Text: []byte(a.Content)}})
}
