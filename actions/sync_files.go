package actions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
)

// SyncFiles writes the files of a generator: it writes each text, and deletes the other files below Dir that contain
// Mark, so that no stale file of an earlier run is left. A file without Mark is never deleted or replaced.
//
// All paths are relative to the root of the tree and below Dir. Each text must contain Mark: without it the file would
// never be deleted again. A file that already has its text is not touched. Files that .gitignore excludes are included.
// Deleted files go to the trash.
type SyncFiles struct {
	Dir   string            `json:"dir" param:"required" doc:"Directory of the generated files."`
	Mark  string            `json:"mark" param:"required" doc:"Text that all generated files have, and no other files."`
	Texts map[string]string `json:"texts" param:"required,empty" doc:"The text of each file, by its path from the root."`
}

// Spec implements [Action].
func (SyncFiles) Spec() Spec {
	return Spec{Name: "sync_files", Summary: "Write generated files, and delete stale ones", Input: InputNone}
}

// Validate implements [Validator].
func (s SyncFiles) Validate(c *Check) {
	if s.Mark == "" || c.Templated(s.Mark) {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(s.Texts)) {
		if text := s.Texts[path]; !c.Templated(text) && !strings.Contains(text, s.Mark) {
			c.Problemf("/texts", codeBadTarget, "put the mark into the text", "the text of '%s' does not have the mark",
				fsutil.Visible(path))
		}
	}
}

// Touches implements [Toucher]: the step finds stale files when it runs.
func (SyncFiles) Touches() (reads, writes []string, known bool) { return nil, nil, false }

// Run implements [Action]. The outcome has all files of Texts, also those that already had their text.
func (s SyncFiles) Run(ctx context.Context, c *Call) (Outcome, error) {
	dir, err := c.stage().Canonical(s.Dir)
	if err != nil {
		return Outcome{}, fileError(s.Dir, err)
	}
	named := make(map[string]bool, len(s.Texts))
	for _, path := range slices.Sorted(maps.Keys(s.Texts)) {
		name, err := c.stage().Canonical(path)
		switch {
		case err != nil:
		case name == dir || !fsutil.Within(name, dir):
			err = fmt.Errorf("is not below '%s'", s.Dir)
		case !strings.Contains(s.Texts[path], s.Mark):
			err = errors.New("its text does not have the mark")
		}
		if err != nil {
			return Outcome{}, fileError(path, err)
		}
		named[name] = true
	}
	marked, err := s.marked(ctx, c, dir)
	if err != nil {
		return Outcome{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if _, err := c.FS.Stat(name); err == nil && !slices.Contains(marked, name) {
			return Outcome{}, fileError(name, fmt.Errorf("%w, and does not have the mark", fs.ErrExist))
		}
	}
	c.Files = slices.DeleteFunc(marked, func(name string) bool { return named[name] })
	if _, err := (Delete{}).Run(ctx, c); err != nil {
		return Outcome{}, err
	}
	c.Files = nil
	return WriteFiles(s.Texts).Run(ctx, c)
}

// marked returns the files below the directory that have the mark.
func (s SyncFiles) marked(ctx context.Context, c *Call, dir string) ([]string, error) {
	if _, err := c.FS.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	found, err := Search{Path: dir, Pattern: s.Mark, Mode: "literal", NoIgnore: true}.Run(ctx, c)
	return slices.Clone(found.Files), err
}
