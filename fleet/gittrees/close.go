package gittrees

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace"
)

// close implements Close of [fleet.Tree]: it commits the changes of the run, and runs Then.
func (o *opened) close(ctx context.Context, res *millrace.Result, err error) error {
	return errors.Join(o.publish(ctx, res, err), o.release())
}

// publish commits the changes of the run to git.
func (o *opened) publish(ctx context.Context, res *millrace.Result, failed error) error {
	if o.mark.State != stateOpen && o.mark.State != stateCommitting {
		switch {
		case failed != nil || res == nil || res.DryRun:
			return nil
		case !res.Replayed && res.FilesChanged.Count() > 0:
			return errors.New(
				"the campaign has made its commit here before, and the tree has lost the result of it: the " +
					"changes of now are not committed")
		case o.mark.State == stateCommitted:
			return o.after(ctx)
		}
		return nil
	}
	if failed != nil || res == nil || res.DryRun || !res.Success || res.FilesChanged.Count() == 0 {
		return o.unmark(context.WithoutCancel(ctx))
	}
	// The run may have written settings of git.
	reason, err := o.trusted(ctx)
	if err != nil {
		return err
	}
	if reason != "" {
		return errors.New(reason)
	}
	paths, err := o.toCommit(ctx, res.FilesChanged)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return o.unmark(ctx)
	}
	o.mark.State, o.mark.Paths, o.mark.Backup = stateCommitting, paths, res.BackupID
	if err := o.t.writeMark(o.own, o.mark); err != nil {
		return err
	}
	if err := o.commit(ctx, paths, res); err != nil {
		return err
	}
	return o.after(ctx)
}

// unmark removes the mark of a campaign that has changed nothing here. The mark stays in a tree with changes, because
// they may come from an interrupted run.
func (o *opened) unmark(ctx context.Context) error {
	dirty, err := o.changed(ctx)
	if err != nil || len(dirty) > 0 {
		return err
	}
	return o.own.Remove(o.t.markFile())
}

// toCommit returns the paths that the run has changed and that git reports as changed, without ignored files.
func (o *opened) toCommit(ctx context.Context, changed millrace.FilesChanged) ([]string, error) {
	mine := make(map[string]bool)
	for _, path := range slices.Concat(changed.Created, changed.Modified, changed.Deleted) {
		mine[path] = true
	}
	for _, r := range changed.Renamed {
		mine[r.From], mine[r.To] = true, true
	}
	all, err := o.changed(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(path string) bool { return !mine[path] }), nil
}

// commit makes the single commit of the campaign.
func (o *opened) commit(ctx context.Context, paths []string, res *millrace.Result) error {
	if b := o.t.Branch; b != "" {
		ref := "refs/heads/" + b
		if base := o.mark.Base; base != "" {
			// A process that was killed here may have made the branch.
			tip, there, err := o.ask(ctx, "rev-parse", "--verify", "--quiet", ref)
			if err != nil {
				return err
			}
			if there && tip != base {
				return fmt.Errorf("the branch %s is there by now", b)
			}
			if _, err := o.run(ctx, "", "update-ref", ref, base); err != nil {
				return err
			}
		}
		if _, err := o.run(ctx, "", "symbolic-ref", "HEAD", ref); err != nil {
			return err
		}
	}
	list := nulList(paths)
	if _, err := o.run(ctx, list, "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		return err
	}
	_, err := o.run(ctx, list, "commit", "--quiet", "--no-verify", "--no-status", "--cleanup=whitespace", "--only",
		"--message="+o.message(res), "--pathspec-from-file=-", "--pathspec-file-nul")
	if err != nil {
		return err
	}
	head, err := o.head(ctx)
	if err != nil {
		return err
	}
	return o.committed(ctx, head)
}

// nulList returns a list of paths in the form that git reads from stdin.
func nulList(paths []string) string { return strings.Join(paths, "\x00") + "\x00" }

// committed records that the commit is made.
func (o *opened) committed(ctx context.Context, head string) error {
	branch, _, err := o.ask(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return err
	}
	o.mark.State, o.mark.Commit, o.mark.Branch = stateCommitted, head, branch
	return o.t.writeMark(o.own, o.mark)
}

// adopt records the commit of a process that was killed before it could record the commit.
func (o *opened) adopt(ctx context.Context, head string) error {
	args := []string{"diff-tree", "-z", "--no-commit-id", "--name-only", "-r", "--root", head}
	out, err := o.run(ctx, "", args...)
	if err != nil {
		return err
	}
	parents, err := o.run(ctx, "", "rev-list", "--parents", "--max-count=1", head)
	if err != nil {
		return err
	}
	want := strings.TrimSpace(head + " " + o.mark.Base)
	got := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for _, path := range got {
		if !slices.Contains(o.mark.Paths, path) {
			want = ""
		}
	}
	if strings.TrimSpace(parents) != want {
		return refused(o.target, "the tree is on another commit than the campaign has begun at")
	}
	return o.committed(ctx, head)
}

// after runs Then, and records that all is done.
func (o *opened) after(ctx context.Context) error {
	if err := o.then(ctx, o.target.ID); err != nil {
		return err
	}
	o.mark.State = stateDone
	return o.t.writeMark(o.own, o.mark)
}

// message returns the message of the commit.
func (o *opened) message(res *millrace.Result) string {
	text := o.t.Message
	if text == "" {
		text = "millrace: {{campaign}}"
	}
	return strings.NewReplacer(
		"{{campaign}}", o.t.Campaign, "{{target}}", o.target.ID, "{{branch}}", o.t.Branch,
		"{{files}}", strconv.Itoa(res.FilesChanged.Count()), "{{edits}}", strconv.Itoa(res.TotalEdits),
	).Replace(text)
}
