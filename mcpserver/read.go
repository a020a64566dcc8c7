package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// maxReadPaths is how many paths one call reads.
const maxReadPaths = 100

// defaultContext is how many lines are shown around a match.
const defaultContext = 2

type readArgs struct {
	Mode      string   `json:"mode"`
	Path      *string  `json:"path"`
	Paths     []string `json:"paths"`
	Images    []string `json:"image_paths"`
	StartLine *int     `json:"start_line"`
	EndLine   *int     `json:"end_line"`
	Pattern   *string  `json:"pattern"`
	Context   *int     `json:"context_lines"`
	Depth     *int     `json:"depth"`
}

// fileRead is what is said of one file or directory.
type fileRead struct {
	Path         string     `json:"path"`
	Success      bool       `json:"success"`
	Content      *string    `json:"content,omitempty"`
	ContentHash  string     `json:"content_hash,omitempty"`
	RangeHash    string     `json:"range_hash,omitempty"`
	LastModified *time.Time `json:"last_modified,omitempty"`
	// Truncated says that the content is cut, and NextLine where to go on.
	Truncated bool   `json:"truncated,omitempty"`
	NextLine  int    `json:"next_start_line,omitempty"`
	Error     string `json:"error,omitempty"`
}

// fsRead reads files, directories and images.
func fsRead(ctx context.Context, c *call) (*answer, error) {
	var args readArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if problems := args.problems(); len(problems) > 0 {
		return nil, &millrace.ValidationError{Problems: problems}
	}
	paths := args.Paths
	if args.Images != nil {
		paths = args.Images
	}
	if args.Path != nil {
		paths = []string{*args.Path}
	}
	paths = homes(paths)
	switch args.Mode {
	case "Directory":
		return c.readDirectories(ctx, args, paths)
	case "Search":
		return c.readMatches(ctx, args, paths)
	case "Image":
		return c.readImages(ctx, paths)
	}
	return c.readLines(ctx, args, paths)
}

// problems are those that a schema without conditions cannot say.
func (a *readArgs) problems() []millrace.Problem {
	var list []millrace.Problem
	add := func(pointer, code, format string, args ...any) {
		list = append(list, millrace.Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case a.Images != nil && (a.Path != nil || a.Paths != nil):
		add("/image_paths", "two_forms", "'image_paths' and 'path' or 'paths' cannot both be given")
	case a.Path == nil && len(a.Paths) == 0 && len(a.Images) == 0:
		add("", "missing_param", "one of 'path' and 'paths' is required")
	case a.Path != nil && a.Paths != nil:
		add("/paths", "two_forms", "'path' and 'paths' cannot both be given")
	case len(a.Paths) > maxReadPaths:
		add("/paths", "out_of_range", "'paths' has %d paths, more than %d", len(a.Paths), maxReadPaths)
	}
	if a.Mode == "Search" && a.Pattern == nil {
		add("", "missing_param", "'pattern' is required for Search")
	}
	only := func(given bool, name, mode string) {
		if given && a.Mode != mode {
			add("/"+name, "misplaced_param", "'%s' is for the mode %s", name, mode)
		}
	}
	only(a.Images != nil, "image_paths", "Image")
	only(a.StartLine != nil, "start_line", "Line")
	only(a.EndLine != nil, "end_line", "Line")
	only(a.Pattern != nil, "pattern", "Search")
	only(a.Context != nil, "context_lines", "Search")
	only(a.Depth != nil, "depth", "Directory")
	return list
}

// look runs a step that only reads.
func (c *call) look(ctx context.Context, action string, params map[string]any, rename ...[2]string) (millrace.StepResult, error) {
	p, err := c.step(action, params, false, rename...)
	if err != nil {
		return millrace.StepResult{}, err
	}
	return c.lookAt(ctx, p)
}

func (c *call) lookAt(ctx context.Context, p millrace.Pipeline) (millrace.StepResult, error) {
	res, err := c.executor(c.progress.observe).Run(ctx, c.cfg.FS, p)
	if err != nil {
		// The step is the tool itself, so its own error says it all.
		var failed *millrace.StepError
		if errors.As(err, &failed) {
			code := codeOf(failed.Err)
			if code == codeInternal {
				code = "step_failed"
			}
			return millrace.StepResult{}, &nextError{err: failed.Err, code: code, next: "correct the path; fs_read with the mode Directory lists what there is"}
		}
		return millrace.StepResult{}, err
	}
	return res.Results[0], nil
}

func (c *call) readLines(ctx context.Context, args readArgs, paths []string) (*answer, error) {
	params := map[string]any{"files": paths, "on_error": "continue"}
	if args.StartLine != nil {
		params["start_line"] = *args.StartLine
	}
	if args.EndLine != nil {
		params["end_line"] = *args.EndLine
	}
	rename := [2]string{"/files", "/paths"}
	if args.Path != nil {
		rename = [2]string{"/files/0", "/path"}
	}
	step, err := c.look(ctx, "read_ranges", params, rename, [2]string{"/files", "/path"})
	if err != nil {
		return nil, err
	}
	list := make([]fileRead, 0, len(step.Files))
	room := c.cfg.MaxResult * 3 / 4 / max(1, len(step.Files))
	for _, f := range step.Files {
		r := readOf(f)
		if f.Success {
			first := 1
			if args.StartLine != nil {
				first = *args.StartLine
			}
			if content := step.Content[f.Path]; utf8.ValidString(content) {
				r.fill(content, first, room)
			} else {
				r.notText(content, first)
			}
		}
		list = append(list, r)
	}
	return c.readAnswer(args, list)
}

// notText refuses a content that is not UTF-8: bytes of it would come as other bytes, and would be sent back as these.
func (r *fileRead) notText(content string, first int) {
	at := 0
	for i, c := range content {
		if _, size := utf8.DecodeRuneInString(content[i:]); c == utf8.RuneError && size == 1 {
			at = i
			break
		}
	}
	r.Success = false
	r.Error = "the file is not UTF-8 text"
	if first > 0 {
		r.Error += fmt.Sprintf(": see line %d", first+strings.Count(content[:at], "\n"))
	}
	r.Error += "; other lines can be read by start_line and end_line, and the action edit changes it by old_text and new_text"
}

// fill takes the content as far as there is room for it as JSON, in whole lines if there are some.
func (r *fileRead) fill(content string, first, room int) {
	text := content
	for asJSON(text) > room {
		text = string(whole([]byte(text[:min(len(text)-1, int(int64(len(text))*int64(room)/int64(asJSON(text))))])))
		if text == "" {
			break
		}
	}
	r.Content = &text
	if len(text) == len(content) {
		return
	}
	r.Truncated = true
	lines := strings.Count(text, "\n")
	if lines == 0 { // the line is too long for any answer: to begin with it again would not help
		at := strings.IndexByte(content, '\n')
		if at < 0 || at == len(content)-1 {
			return
		}
		lines = 1
	}
	if first > 0 {
		r.NextLine = first + lines
	}
}

// asJSON is how long a text is as JSON.
func asJSON(text string) int {
	data, _ := plainJSON(text)
	return len(data)
}

func readOf(f actions.FileReport) fileRead {
	r := fileRead{Path: f.Path, Success: f.Success, ContentHash: f.ContentHash, RangeHash: f.RangeHash, Error: f.Error}
	if !f.LastModified.IsZero() {
		t := f.LastModified.UTC().Truncate(time.Second)
		r.LastModified = &t
	}
	return r
}

// readAnswer is one object for a path, and a list for paths. It has failed if nothing could be read.
func (c *call) readAnswer(args readArgs, list []fileRead) (*answer, error) {
	failed := len(list) > 0
	for _, r := range list {
		failed = failed && !r.Success
	}
	a := &answer{failed: failed}
	var v any = list
	if args.Path != nil && len(list) == 1 {
		v = list[0]
	}
	text, err := plainJSON(v)
	if err != nil {
		return nil, err
	}
	if len(text) > c.cfg.MaxResult {
		for i := range list {
			if list[i].Content != nil {
				list[i].Content, list[i].Truncated = nil, true
			}
		}
		if text, err = plainJSON(list); err != nil {
			return nil, err
		}
	}
	a.texts = []string{string(text)}
	if failed {
		a.texts = append(a.texts, "next: correct the path; fs_read with the mode Directory lists what there is")
	}
	return a, nil
}

func (c *call) readDirectories(ctx context.Context, args readArgs, paths []string) (*answer, error) {
	list := make([]fileRead, 0, len(paths))
	room := c.cfg.MaxResult * 3 / 4 / max(1, len(paths))
	for _, path := range paths {
		params := map[string]any{"path": path}
		if args.Depth != nil {
			params["depth"] = *args.Depth
		}
		step, err := c.look(ctx, "list", params)
		if err != nil && (args.Path != nil || ctx.Err() != nil || millrace.ErrorCode(err) == "invalid_pipeline") {
			return nil, err
		}
		r := fileRead{Path: path, Success: err == nil}
		if err != nil {
			r.Error = visible(err.Error())
		} else {
			r.fill(step.AggregatedContent, 0, room)
		}
		list = append(list, r)
	}
	return c.readAnswer(args, list)
}

func (c *call) readMatches(ctx context.Context, args readArgs, paths []string) (*answer, error) {
	params := map[string]any{
		"pattern": *args.Pattern, "mode": "literal", "ignore_case": true, "lines": true, "context_lines": defaultContext, "paths": paths,
	}
	if args.Context != nil {
		params["context_lines"] = *args.Context
	}
	step, err := c.look(ctx, "search", params)
	if err != nil {
		return nil, err
	}
	list := make([]fileRead, 0, len(step.FilesMatched))
	shownFiles := min(len(step.FilesMatched), maxReadPaths)
	room := c.cfg.MaxResult * 3 / 4 / max(1, shownFiles)
	for _, path := range step.FilesMatched[:shownFiles] {
		r := fileRead{Path: path, Success: true}
		r.fill(step.Content[path], 0, room)
		list = append(list, r)
	}
	if len(list) == 0 && args.Path != nil {
		none := ""
		list = append(list, fileRead{Path: *args.Path, Success: true, Content: &none})
	}
	a, err := c.readAnswer(args, list)
	if more := len(step.FilesMatched) - shownFiles; err == nil && more > 0 {
		a.texts = append(a.texts, fmt.Sprintf("… and %d more files: search in a directory below, or for more", more))
	}
	return a, err
}
