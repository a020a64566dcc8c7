package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// lines reads lines of a file.
func (r *reading) lines(ctx context.Context, path string, e *fileRead) error {
	params := map[string]any{"files": []string{path}}
	first := 1
	if r.args.StartLine != nil {
		first = *r.args.StartLine
		params["start_line"] = first
	}
	switch {
	case r.args.EndLine != nil:
		params["end_line"] = *r.args.EndLine
	case r.args.Limit > 0 && (first > 0 || first+r.args.Limit-1 < 0):
		params["end_line"] = first + r.args.Limit - 1
	}
	step, err := r.look(ctx, "read_ranges", params, [2]string{"/files", "/path"})
	if err != nil {
		return err
	}
	file := step.Files[0]
	content := step.Content[file.Path]
	if first < 0 {
		first = r.firstLine(ctx, path, first)
	}
	if !utf8.ValidString(content) {
		return notText(content, first)
	}
	e.ContentHash, e.RangeHash = file.ContentHash, file.RangeHash
	if e.RangeHash != e.ContentHash {
		r.ranges.add(file.Path, e.RangeHash)
	}
	if !file.LastModified.IsZero() {
		t := file.LastModified.UTC().Truncate(time.Second)
		e.LastModified = &t
	}
	e.fill(content, first, r.room)
	if content == "" {
		r.note(fmt.Sprintf("%s is empty", visible(e.Path)))
	}
	return nil
}

// firstLine returns the number of a line that is counted from the end, 0 if the lines cannot be counted.
func (r *reading) firstLine(ctx context.Context, path string, fromEnd int) int {
	lines := map[string]any{"files": []string{path}, "mode": "regex", "pattern": `\n|[^\n]\z`}
	step, err := r.look(ctx, "count_occurrences", lines)
	if err != nil {
		return 0
	}
	all := 0
	for _, n := range step.Counts {
		all += n
	}
	return max(1, all+1+fromEnd)
}

// notText refuses content that is not UTF-8: the model would see other bytes, and would send those back.
func notText(content string, first int) error {
	at := 0
	for i, c := range content {
		if _, size := utf8.DecodeRuneInString(content[i:]); c == utf8.RuneError && size == 1 {
			at = i
			break
		}
	}
	text := "the file is not UTF-8 text"
	if first > 0 {
		text += fmt.Sprintf(": see line %d", first+strings.Count(content[:at], "\n"))
	}
	text += "; other lines can be read by start_line and end_line, " +
		"and the action edit changes it by old_text and new_text"
	return &nextError{err: errors.New(text), code: failedCode, next: correctPath}
}

// directory lists a directory.
func (r *reading) directory(ctx context.Context, path string, e *fileRead) error {
	params := map[string]any{"path": path}
	if r.args.Depth != nil {
		params["depth"] = *r.args.Depth
	}
	step, err := r.look(ctx, "list", params)
	if err != nil {
		return err
	}
	r.note(step.Warnings...)
	e.fill(step.AggregatedContent, 0, r.room)
	return nil
}

// glob finds files by their names.
func (r *reading) glob(ctx context.Context, path string, e *fileRead) error {
	pattern := strings.TrimPrefix(home(*r.args.Pattern), "./")
	switch dir := r.canonical(path); {
	case filepath.IsAbs(pattern):
		pattern = r.canonical(pattern)
	case strings.Contains(pattern, "/") && dir != ".":
		pattern = quoteGlob(dir) + "/" + pattern
	}
	params := map[string]any{"path": path, "depth": -1, "include": []string{pattern}}
	step, err := r.look(ctx, "list", params, [2]string{"/include/0", "/pattern"})
	if err != nil {
		return err
	}
	r.note(step.Warnings...)
	names, n := step.FilesMatched, len(step.FilesMatched)
	if r.args.Limit > 0 && n > r.args.Limit {
		names, e.Truncated = names[:r.args.Limit], true
	}
	e.Files = &n
	e.fill(joined(names), 0, r.room)
	return nil
}

// quoteGlob returns a glob that matches exactly one name.
func quoteGlob(name string) string {
	var b strings.Builder
	for _, c := range name {
		if strings.ContainsRune(`*?[]{},\`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// joined returns the names, one per line.
func joined(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(visible(name) + "\n")
	}
	return b.String()
}
