package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
)

// defaultHistory is the number of commits that are listed by default.
const defaultHistory = 20

type historyArgs struct {
	ID    string `json:"id"`
	Limit int    `json:"limit"`
}

// commitInfo is one commit of the list.
type commitInfo struct {
	ID       string `json:"backup_id"`
	Time     string `json:"time,omitempty"`
	Pipeline string `json:"pipeline,omitempty"`
	RunID    string `json:"run_id,omitempty"`
	Restores string `json:"restores,omitempty"`
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`
	Undone   bool   `json:"undone,omitempty"`    // the whole commit
	UndoneBy string `json:"undone_by,omitempty"` // the whole commit or a part
	Error    string `json:"error,omitempty"`
}

// history lists the commits that can be undone, or shows what undoing one would do.
func history(ctx context.Context, c *call) (*answer, error) {
	var args historyArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if args.ID != "" {
		return c.undoDiff(ctx, args.ID)
	}
	all, err := c.executor(nil).ListBackups(ctx, c.cfg.FS)
	if err != nil {
		return nil, err
	}
	if args.Limit == 0 {
		args.Limit = defaultHistory
	}
	list := make([]commitInfo, 0, min(len(all), args.Limit))
	var b strings.Builder
	undone := 0
	for _, info := range all {
		if infoOf(info).Undone {
			undone++
		}
	}
	summary := fmt.Sprintf("%d commits can be undone", len(all))
	if undone > 0 {
		summary = fmt.Sprintf("%d commits, %d of them undone", len(all), undone)
	}
	fmt.Fprintln(&b, summary)
	for _, info := range all[:min(len(all), args.Limit)] {
		list = append(list, infoOf(info))
		fmt.Fprintln(&b, list[len(list)-1])
	}
	if more := len(all) - len(list); more > 0 {
		fmt.Fprintf(&b, "… and %d older ones\n", more)
	}
	return &answer{
		texts: []string{strings.TrimRight(b.String(), "\n")},
		data:  map[string]any{"summary": summary, "commits": list, "total": len(all)},
	}, nil
}

func infoOf(info backup.Info) commitInfo {
	i := commitInfo{
		ID: info.ID, Pipeline: info.Pipeline, RunID: info.RunID, Restores: info.Restores, Files: info.Files,
		Bytes:    info.Bytes,
		UndoneBy: info.UndoneBy, Undone: info.UndoneBy != "" && info.Left == 0,
	}
	if !info.Time.IsZero() {
		i.Time = info.Time.UTC().Format(time.RFC3339)
	}
	if info.Err != nil {
		i.Error = info.Err.Error()
	}
	return i
}

// String returns the line of a commit.
func (i commitInfo) String() string {
	line := i.ID
	switch {
	case i.Error != "":
		return line + "  cannot be used: " + visible(i.Error)
	case i.Restores != "":
		line += "  " + i.Time + "  undo of " + i.Restores
	default:
		line += "  " + i.Time + "  " + strings.ReplaceAll(visible(i.Pipeline), "\n", " ")
	}
	line += fmt.Sprintf("  %d files", i.Files)
	switch {
	case i.Undone:
		line += "  (undone)"
	case i.UndoneBy != "":
		line += "  (undone in part)"
	}
	return line
}

type undoArgs struct {
	ID string `json:"backup_id"`
	// Except are paths to leave unchanged, with everything below them.
	Except []string `json:"except"`
	DryRun bool     `json:"dry_run"`
}

// undo undoes a commit.
func undo(ctx context.Context, c *call) (*answer, error) {
	var args undoArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if args.DryRun {
		return c.undoDiff(ctx, args.ID, args.Except...)
	}
	r := &relay{to: c.progress.observe}
	plan, err := c.planUndo(ctx, c.executor(r.observe), args.ID, args.Except)
	if err != nil {
		return nil, notUndone(err)
	}
	res, err := plan.Commit(ctx)
	if needsForce(err) && c.canAsk() {
		e, failed := c.plans.add(plan, r, reported)
		if failed != nil {
			return nil, failed
		}
		return c.ask(e), nil
	}
	_ = plan.Close()
	return c.rendered(res, err, reported)
}

// planUndo plans the undo of a commit. Its risk is judged like that of any change, because a model requests it. The
// library judges risk only in a stored plan, so this plan is stored and opened.
func (c *call) planUndo(ctx context.Context, x millrace.Executor, id string, except []string) (*millrace.Plan, error) {
	plan, err := x.PlanRestore(ctx, c.cfg.FS, id)
	if err != nil {
		return nil, err
	}
	defer plan.Close() //nolint:errcheck // nothing was written
	if len(except) > 0 {
		if plan, err = plan.Reject(except...); err != nil {
			return nil, &nextError{err: err, code: codeArguments,
				next: "name in except only paths that the commit has changed"}
		}
		defer plan.Close() //nolint:errcheck // nothing was written
	}
	stored, err := plan.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return x.OpenPlan(ctx, c.cfg.FS, stored)
}

// undoDiff shows what undoing a commit would do.
func (c *call) undoDiff(ctx context.Context, id string, except ...string) (*answer, error) {
	plan, err := c.planUndo(ctx, c.executor(c.progress.observe), id, except)
	if err != nil {
		return nil, notUndone(err)
	}
	defer plan.Close() //nolint:errcheck // nothing was written
	res := plan.Result()
	var b strings.Builder
	fmt.Fprintln(&b, res)
	details(&b, res)
	w := &window{room: c.cfg.MaxResult / 2}
	if err := plan.WriteDiff(w); err != nil {
		return nil, &nextError{err: err, next: "read the files: they have changed since that commit"}
	}
	diff := string(w.kept)
	if int64(len(diff)) < w.seen {
		diff = string(whole(w.kept))
		diff += fmt.Sprintf("… %d more bytes, see the resource millrace://backups/%s/diff\n", w.seen-int64(len(diff)),
			id)
	}
	fmt.Fprintf(&b, "what undo would change:\n%s", diff)
	return &answer{
		texts: []string{strings.TrimRight(b.String(), "\n")},
		data: map[string]any{"summary": res.String(), "backup_id": id, "diff": diff,
			"files_changed": res.FilesChanged},
	}, nil
}

// notUndone adds advice on the next call to the error of a commit that cannot be undone.
func notUndone(err error) error {
	if _, ok := errors.AsType[*millrace.ConflictError](err); ok {
		return &nextError{err: err,
			next: "make these paths what they were after that commit, or call undo with them in except"}
	}
	if errors.Is(err, backup.ErrUndone) {
		return &nextError{err: err, next: "call history for the commits that can be taken back"}
	}
	if errors.Is(err, backup.ErrNotFound) {
		return &nextError{err: err, next: "call history for the ids of the backups that there are"}
	}
	return err
}
