package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
)

// maxReadPaths is the maximum number of paths in one call.
const maxReadPaths = 100

// defaultContext is the number of lines that are shown around a match by default.
const defaultContext = 2

// The modes of fs_read.
const (
	modeLine      = "Line"
	modeDirectory = "Directory"
	modeSearch    = "Search"
	modeGlob      = "Glob"
	modeImage     = "Image"
)

type readArgs struct {
	Mode        string   `json:"mode"`
	Path        *string  `json:"path"`
	Paths       []string `json:"paths"`
	Images      []string `json:"image_paths"`
	StartLine   *int     `json:"start_line"`
	EndLine     *int     `json:"end_line"`
	Limit       int      `json:"limit"`
	Pattern     *string  `json:"pattern"`
	PatternMode string   `json:"pattern_mode"`
	Context     *int     `json:"context_lines"`
	Include     []string `json:"include"`
	Output      string   `json:"output"`
	Depth       *int     `json:"depth"`
}

// fsRead reads files, directories and images. Each requested path gets an entry, even if it cannot be read.
func fsRead(ctx context.Context, c *call) (*answer, error) {
	var args readArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if problems := args.problems(); len(problems) > 0 {
		return nil, &millrace.ValidationError{Problems: problems}
	}
	r := &reading{call: c, args: args, asked: args.asked()}
	r.room = c.cfg.MaxResult * 3 / 4 / max(1, len(r.asked))
	read := r.lines
	switch args.Mode {
	case modeDirectory:
		read = r.directory
	case modeSearch:
		return r.search(ctx)
	case modeGlob:
		read = r.glob
	case modeImage:
		read = r.image
	}
	if err := r.each(ctx, read); err != nil {
		return nil, err
	}
	return r.answer()
}

// asked returns the paths of the call, in its order and with its names.
func (a *readArgs) asked() []string {
	switch {
	case a.Path != nil:
		return []string{*a.Path}
	case a.Images != nil:
		return a.Images
	case a.Paths == nil:
		return []string{"."}
	}
	return a.Paths
}

// problems returns the problems that a schema without conditions cannot express.
func (a *readArgs) problems() []millrace.Problem {
	var list []millrace.Problem
	add := func(pointer, code, format string, args ...any) {
		list = append(list, millrace.Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	asked, needsPath := a.asked(), a.Mode == modeLine || a.Mode == modeImage
	switch {
	case a.Images != nil && (a.Path != nil || a.Paths != nil):
		add("/image_paths", "two_forms", "'image_paths' and 'path' or 'paths' cannot both be given")
	case a.Path != nil && a.Paths != nil:
		add("/paths", "two_forms", "'path' and 'paths' cannot both be given")
	case a.Path == nil && len(a.Paths)+len(a.Images) == 0 && (needsPath || a.Paths != nil):
		add("", "missing_param", "one of 'path' and 'paths' is required")
	case len(asked) > maxReadPaths:
		add("/paths", "out_of_range", "'paths' has %d paths, more than %d", len(asked), maxReadPaths)
	case a.Mode == modeImage && len(asked) > maxImages:
		add("/paths", "out_of_range", "the mode Image shows %d images at most, not %d", maxImages, len(asked))
	}
	if (a.Mode == modeSearch || a.Mode == modeGlob) && a.Pattern == nil {
		add("", "missing_param", "'pattern' is required for %s", a.Mode)
	}
	only := func(given bool, name string, modes ...string) {
		if given && !slices.Contains(modes, a.Mode) {
			add("/"+name, "misplaced_param", "'%s' is for the mode %s", name, strings.Join(modes, " or "))
		}
	}
	only(a.Images != nil, "image_paths", modeImage)
	only(a.StartLine != nil, "start_line", modeLine)
	only(a.EndLine != nil, "end_line", modeLine)
	only(a.Pattern != nil, "pattern", modeSearch, modeGlob)
	only(a.PatternMode != "", "pattern_mode", modeSearch)
	only(a.Context != nil, "context_lines", modeSearch)
	only(a.Include != nil, "include", modeSearch)
	only(a.Output != "", "output", modeSearch)
	only(a.Limit != 0, "limit", modeLine, modeSearch, modeGlob)
	only(a.Depth != nil, "depth", modeDirectory)
	if a.Limit != 0 && a.EndLine != nil {
		add("/limit", "two_forms", "'limit' and 'end_line' cannot both be given")
	}
	return list
}

// look runs a read-only step.
func (c *call) look(ctx context.Context, action string, params map[string]any,
	rename ...[2]string) (millrace.StepResult, error) {
	p, err := c.step(action, params, false, rename...)
	if err != nil {
		return millrace.StepResult{}, err
	}
	list, err := c.lookAt(ctx, p)
	if err != nil {
		return millrace.StepResult{}, err
	}
	return list[0], nil
}

// lookAt runs read-only steps.
func (c *call) lookAt(ctx context.Context, p millrace.Pipeline) ([]millrace.StepResult, error) {
	x := c.executor(c.progress.observe)
	x.Words = wordOf
	res, err := x.Run(ctx, c.cfg.FS, p)
	if err == nil {
		return res.Results, nil
	}
	// The step is the tool itself, so its own error is enough.
	failed, ok := errors.AsType[*millrace.StepError](err)
	if !ok {
		return nil, err
	}
	code := codeOf(failed.Err)
	if code == codeInternal {
		code = failedCode
	}
	return nil, &nextError{err: failed.Err, code: code, next: correctPath}
}

// correctPath is the advice for a path that cannot be read.
const correctPath = "correct the path; fs_read with the mode Directory lists what there is, with Glob it finds names"
