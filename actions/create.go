package actions

import (
	"context"
	"github.com/millrace-go/millrace/internal/kinds"
)

// Create makes files with the same content, and the directories they need. Content is written unchanged.
//
// An existing file is an error unless Overwrite is set. With Overwrite the file keeps its mode, unless Mode is set, and
// is not touched if it already has that content and mode. Then a symbolic link is followed and stays. If any file
// cannot be made, none is made, and the *editFilesError lists every failed file.
type Create struct {
	Path      string   `json:"path,omitempty" doc:"The file to create."`
	Paths     []string `json:"paths,omitempty" doc:"Several files to create, instead of path."`
	Content   string   `json:"content" param:"required,empty,bytes" doc:"The text of the file."`
	Overwrite bool     `json:"overwrite,omitempty" doc:"Replace the text of existing files; by default an error."`
	Mode      string   `json:"mode,omitempty" doc:"Permissions in octal, such as 0755, also of existing files. Default: the permissions of new files."`
}

// Spec implements [Action].
func (Create) Spec() Spec {
	return Spec{Name: "create", Summary: "Create files with a given content", Input: InputNone}
}

// Validate implements [Validator].
func (a Create) Validate(c *Check) {
	several := len(a.Paths) > 0 || c.bound("/paths")
	switch {
	case a.Path == "" && !several && a.Paths != nil && c.IsTemplated == nil:
		// These are final values: a template has returned an empty list. A literal empty list is a mistake.
	case a.Path == "" && !several:
		c.Problemf("/path", codeMissingParam, "", "create action requires 'path' or 'paths' parameter")
	case a.Path != "" && several:
		c.Problemf("/paths", codeUnusedParam, "use one of them", "path and paths exclude each other")
	}
	checkMode(c, "/mode", a.Mode)
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

// Run implements [Action]. The outcome has all the files, also files that already had the content.
func (a Create) Run(ctx context.Context, c *Call) (Outcome, error) {
	var out Outcome
	var failures []*editFailure
	names := a.names()
	made := make(map[string]bool, len(names))
	progress := c.progress(len(names))
	if int64(len(a.Content)) > c.Limits.OutputBytes() {
		return Outcome{}, &LimitError{What: kinds.LimitOutput, Limit: c.Limits.OutputBytes(), Got: int64(len(a.Content))}
	}
	edits := []LineEdit{{Command: commandCreate, FileText: &a.Content, Overwrite: a.Overwrite, Mode: a.Mode}}
	for _, path := range names {
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		if name, err := c.stage().Canonical(path); err == nil {
			if made[name] {
				continue
			}
			made[name] = true
		}
		p, err := EditFiles{}.plan(ctx, c, FileEdits{Path: path, Edits: edits})
		if err != nil {
			return Outcome{}, err
		}
		if err := p.write(c); err != nil {
			p.fail(-1, err)
		}
		for _, f := range p.failures {
			if isOfStep(f.Err) {
				return Outcome{}, f.Err
			}
			failures = append(failures, &editFailure{Path: p.name, Index: -1, Err: f.Err})
		}
		if len(p.failures) == 0 {
			out.Files = append(out.Files, p.name)
			progress.file()
		}
	}
	if len(names) == 0 {
		c.Warnf("the list of paths is empty")
	}
	if len(failures) > 0 {
		return Outcome{}, &editFilesError{Failures: failures}
	}
	return out, nil
}
