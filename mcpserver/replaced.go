package mcpserver

import (
	"context"
	"strings"

	"github.com/millrace-go/millrace"
)

// preview is the data of a dry run's answer.
type preview struct {
	Success bool     `json:"success"`
	DryRun  bool     `json:"dry_run"`
	Files   []edited `json:"files"`
}

// previewed plans edits and shows their effect on each file.
func (w *writing) previewed(ctx context.Context, p millrace.Pipeline) (*answer, error) {
	plan, err := w.executor(w.progress.observe).Plan(ctx, w.cfg.FS, p)
	if plan != nil {
		defer plan.Close() //nolint:errcheck // nothing was written
	}
	if err != nil {
		if plan == nil {
			return nil, err
		}
		return w.rendered(plan.Result(), err, reported)
	}
	changed := make(map[string]bool)
	for _, ch := range plan.Outline() {
		changed[ch.Path] = true
	}
	files := w.entries(plan.Result())
	for i := range files {
		f, name := &files[i], w.of[i].name
		would := changed[name]
		f.WouldModify = &would
		if would && f.Preview == "" {
			var b strings.Builder
			if err := plan.WriteDiff(&b, name); err != nil {
				return nil, err
			}
			f.Preview = b.String()
		}
	}
	w.single = false // a dry run of one file has the same form
	return w.preview(plan.Result(), files), nil
}

func (w *writing) preview(res *millrace.Result, files []edited) *answer {
	room := w.cfg.MaxResult / 2 / max(1, len(files))
	for i := range files {
		if len(files[i].Preview) > room {
			files[i].Preview = cut(files[i].Preview, max(room, 200))
		}
	}
	data := map[string]any{"success": true, "dry_run": true, "files": files}
	if res.WouldBlock {
		data["would_block"], data["block_reason"] = true, res.BlockReason
	}
	return w.answered(res, files, preview{Success: true, DryRun: true, Files: files}, data)
}

// patternReplace runs a sed script over the files of a directory.
func (c *call) patternReplace(ctx context.Context, args writeArgs) (*answer, error) {
	params := map[string]any{"on_error": "continue"}
	for _, name := range commandParams()[commandPattern] {
		if args[name] != nil {
			params[name] = args[name]
		}
	}
	if args["directory"] != nil {
		params["directory"] = home(args.text("directory"))
	}
	dryRun := args.flag("dry_run")
	p, err := c.step("pattern_replace", params, dryRun)
	if err != nil {
		return nil, err
	}
	w := &writing{call: c}
	return c.change(ctx, p, func(res *millrace.Result) *answer {
		files := editedFiles(res)
		if dryRun {
			return w.preview(res, files)
		}
		data := map[string]any{"success": res.Success, "files": files, "backup_id": res.BackupID}
		if step := res.Results[0]; step.FilesModified != nil && step.FilesSkipped != nil {
			data["files_modified"], data["files_skipped"] = *step.FilesModified, *step.FilesSkipped
		}
		return w.answered(res, files, data, data)
	})
}

// deleted deletes a file, or a directory with recursive.
func (c *call) deleted(ctx context.Context, args writeArgs) (*answer, error) {
	params := map[string]any{"files": []string{home(args.text("path"))}}
	if args["recursive"] != nil {
		params["recursive"] = args["recursive"]
	}
	return c.transferred(ctx, "delete", params, args)
}

// moved renames a file or a directory. A destination that ends with a slash is the directory to move it to.
func (c *call) moved(ctx context.Context, args writeArgs) (*answer, error) {
	params := map[string]any{"files": []string{home(args.text("path"))}}
	to, name := home(args.text("destination")), "to"
	if strings.HasSuffix(to, "/") {
		name = "destination"
	}
	params[name] = to
	if args["overwrite"] != nil {
		params["overwrite"] = args["overwrite"]
	}
	return c.transferred(ctx, "rename", params, args)
}

func (c *call) transferred(ctx context.Context, action string, params map[string]any, args writeArgs) (*answer, error) {
	p, err := c.step(action, params, args.flag("dry_run"),
		[2]string{"/files/0", "/path"}, [2]string{"/files", "/path"}, [2]string{"/to", "/destination"})
	if err != nil {
		return nil, err
	}
	w := &writing{call: c, single: true}
	return c.change(ctx, p, func(res *millrace.Result) *answer {
		e := edited{Path: args.text("path"), Success: true, Destination: args.text("destination")}
		data := map[string]any{"dry_run": res.DryRun, "files_changed": res.FilesChanged}
		return w.answered(res, []edited{e}, nil, data)
	})
}
