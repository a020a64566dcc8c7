package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
)

// The parameters that a single edit takes, and those of pattern_replace.
var (
	editParams    = []string{"file_text", "overwrite", "old_str", "replace_all", "new_str", "insert_line", "start_line", "end_line", "content_hash"}
	replaceParams = []string{"directory", "file_pattern", "sed_pattern", "recursive", "exclude_patterns"}
)

type fileEdits struct {
	Path  string                       `json:"path"`
	Edits []map[string]json.RawMessage `json:"edits"`
}

// fsWrite creates and edits files.
func fsWrite(ctx context.Context, c *call) (*answer, error) {
	var args map[string]json.RawMessage
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if problems := writeProblems(args); len(problems) > 0 {
		return nil, &millrace.ValidationError{Problems: problems}
	}
	var command string
	var dryRun bool
	_ = json.Unmarshal(args["command"], &command)
	_ = json.Unmarshal(args["dry_run"], &dryRun)
	if command == "pattern_replace" {
		return c.patternReplace(ctx, args, dryRun)
	}
	params := map[string]any{}
	if args["fileEdits"] != nil {
		var list []fileEdits
		if err := json.Unmarshal(args["fileEdits"], &list); err != nil {
			return nil, err
		}
		for i := range list {
			list[i].Path = home(list[i].Path)
		}
		params["file_edits"], params["on_error"] = list, "continue"
		p, err := c.step("edit_files", params, dryRun, [2]string{"/file_edits", "/fileEdits"})
		if err != nil {
			return nil, err
		}
		return c.edited(ctx, p, false)
	}
	var path string
	_ = json.Unmarshal(args["path"], &path)
	edit := map[string]json.RawMessage{"command": args["command"]}
	for _, name := range editParams {
		if args[name] != nil {
			edit[name] = args[name]
		}
	}
	params["file_edits"] = []fileEdits{{Path: home(path), Edits: []map[string]json.RawMessage{edit}}}
	p, err := c.step("edit_files", params, dryRun, [2]string{"/file_edits/0/edits/0", ""}, [2]string{"/file_edits/0/path", "/path"})
	if err != nil {
		return nil, err
	}
	return c.edited(ctx, p, true)
}

// writeProblems are those of arguments that do not go together.
func writeProblems(args map[string]json.RawMessage) []millrace.Problem {
	var list []millrace.Problem
	add := func(pointer, code, format string, values ...any) {
		list = append(list, millrace.Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, values...)})
	}
	var command string
	_ = json.Unmarshal(args["command"], &command)
	pattern := command == "pattern_replace"
	several := args["fileEdits"] != nil
	switch {
	case pattern:
		for _, name := range []string{"file_pattern", "sed_pattern"} {
			if args[name] == nil {
				add("", "missing_param", "'%s' is required for pattern_replace", name)
			}
		}
	case several == (args["path"] != nil):
		add("", "two_forms", "one of 'path' and 'fileEdits' is required")
	}
	misplaced := func(names []string, format string) {
		for _, name := range names {
			if args[name] != nil {
				add("/"+name, "misplaced_param", format, name)
			}
		}
	}
	if pattern {
		misplaced(append([]string{"path", "fileEdits"}, editParams...), "'%s' is not for pattern_replace")
		return list
	}
	misplaced(replaceParams, "'%s' is for pattern_replace")
	if several {
		misplaced(editParams, "with 'fileEdits', '%s' belongs into an edit of a file")
	}
	return list
}

// edited is what is said of one file.
type edited struct {
	Path         string `json:"path"`
	Success      bool   `json:"success"`
	Error        string `json:"error,omitempty"`
	EditsApplied *int   `json:"edits_applied,omitempty"`
	EditsFailed  *int   `json:"edits_failed,omitempty"`
	FailedEdits  any    `json:"failed_edits,omitempty"`
	ContentHash  string `json:"content_hash,omitempty"`
	Replacements *int   `json:"replacements,omitempty"`
	WouldModify  *bool  `json:"would_modify,omitempty"`
	Preview      string `json:"preview,omitempty"`
	BackupID     string `json:"backup_id,omitempty"`
}

// edited runs edits of files. The answer is an object for a single file, and a list for several.
func (c *call) edited(ctx context.Context, p millrace.Pipeline, single bool) (*answer, error) {
	if p.Options().DryRun {
		return c.previewed(ctx, p)
	}
	return c.change(ctx, p, func(res *millrace.Result) *answer {
		files := editedFiles(res)
		a := reported(res)
		a.data["files"] = files
		delete(a.data, "result")
		a.data["success"], a.data["backup_id"] = res.Success, res.BackupID
		failed := len(files) > 0 && !slices.ContainsFunc(files, func(f edited) bool { return f.Success })
		if single && len(files) == 1 {
			files[0].BackupID = res.BackupID
			a.texts = []string{asText(files[0], c.cfg.MaxResult)}
			if text := warningLines(res); text != "" {
				a.texts = append(a.texts, text)
			}
		} else {
			a.texts = append([]string{asText(files, c.cfg.MaxResult)}, a.texts...)
		}
		if failed {
			a.failed, a.data = true, nil
			a.texts = append(a.texts, "next: read the files again with fs_read and correct the edits")
		}
		return a
	})
}

func editedFiles(res *millrace.Result) []edited {
	files := []edited{}
	for _, step := range res.Results {
		for _, f := range step.Files {
			e := edited{
				Path: f.Path, Success: f.Success, Error: f.Error, EditsApplied: f.EditsApplied, EditsFailed: f.EditsFailed,
				ContentHash: f.ContentHash, Replacements: f.Replacements, WouldModify: f.WouldModify, Preview: f.Preview,
			}
			if len(f.FailedEdits) > 0 {
				e.FailedEdits = f.FailedEdits
			}
			files = append(files, e)
		}
	}
	return files
}

// preview is the answer of a dry run.
type preview struct {
	Success bool     `json:"success"`
	DryRun  bool     `json:"dry_run"`
	Files   []edited `json:"files"`
}

// previewed plans edits and shows what they would do to each file.
func (c *call) previewed(ctx context.Context, p millrace.Pipeline) (*answer, error) {
	plan, err := c.executor(c.progress.observe).Plan(ctx, c.cfg.FS, p)
	if plan != nil {
		defer plan.Close() //nolint:errcheck // nothing was written
	}
	if err != nil {
		if plan == nil {
			return nil, err
		}
		return c.rendered(plan.Result(), err, reported)
	}
	res := plan.Result()
	changed := make(map[string]bool)
	for _, ch := range plan.Outline() {
		changed[ch.Path] = true
	}
	files := editedFiles(res)
	for i := range files {
		f := &files[i]
		would := changed[f.Path]
		f.WouldModify = &would
		if would && f.Preview == "" {
			var b strings.Builder
			if err := plan.WriteDiff(&b, f.Path); err != nil {
				return nil, err
			}
			f.Preview = b.String()
		}
	}
	return c.preview(res, files)
}

func (c *call) preview(res *millrace.Result, files []edited) (*answer, error) {
	room := c.cfg.MaxResult / 2 / max(1, len(files))
	for i := range files {
		if len(files[i].Preview) > room {
			files[i].Preview = cut(files[i].Preview, max(room, 200))
		}
	}
	v := preview{Success: true, DryRun: true, Files: files}
	a := &answer{texts: []string{asText(v, c.cfg.MaxResult)}}
	a.data = map[string]any{"summary": res.String(), "success": true, "dry_run": true, "files": files}
	if text := warningLines(res); text != "" {
		a.texts = append(a.texts, text)
	}
	warned(a.data, res)
	if res.WouldBlock {
		a.texts = append(a.texts, "would be blocked: "+visible(res.BlockReason))
		a.data["would_block"], a.data["block_reason"] = true, res.BlockReason
	}
	return a, nil
}

// patternReplace runs a sed script over the files of a directory.
func (c *call) patternReplace(ctx context.Context, args map[string]json.RawMessage, dryRun bool) (*answer, error) {
	params := make(map[string]any)
	for _, name := range replaceParams {
		if args[name] != nil {
			params[name] = args[name]
		}
	}
	if args["directory"] != nil {
		var dir string
		_ = json.Unmarshal(args["directory"], &dir)
		params["directory"] = home(dir)
	}
	p, err := c.step("pattern_replace", params, dryRun)
	if err != nil {
		return nil, err
	}
	return c.change(ctx, p, func(res *millrace.Result) *answer {
		files := editedFiles(res)
		if dryRun {
			a, _ := c.preview(res, files)
			return a
		}
		data := map[string]any{"success": res.Success, "files": files, "backup_id": res.BackupID}
		if step := res.Results[0]; step.FilesModified != nil && step.FilesSkipped != nil {
			data["files_modified"], data["files_skipped"] = *step.FilesModified, *step.FilesSkipped
		}
		a := reported(res)
		a.texts = append([]string{asText(data, c.cfg.MaxResult)}, a.texts...)
		data["summary"] = res.String()
		warned(data, res)
		a.data = data
		return a
	})
}
