// Package gittrees opens git repositories as the trees of a fleet, and makes one commit in each tree that has changed.
//
//	trees := gittrees.Trees{Campaign: "licence-2026", CloneTo: dir, Branch: "licence", Message: "Add licence headers"}
//	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Executor: x, Trees: trees}, Parallel: 8}}
//	sum, err := f.Run(ctx, fleet.Campaign{ID: trees.Campaign, Pipeline: p}, gittrees.Clones(urls...), sink)
//
// The installed git does the work. Addresses, names and repositories are untrusted: no hook of a repository runs, no
// setting of a repository names a program, and only the transports https, ssh, http, git and file are allowed.
package gittrees

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/show"
)

// Trees are directories and clones that git knows. They are safe for concurrent use as long as the fields are not
// changed. A tree has the same history however often its target is delivered: a mark in its git directory has the
// commit at which the campaign began, and the campaign's commit is made only on top of that commit.
type Trees struct {
	// Campaign is the id of the campaign, see [fleet.Campaign]. Required.
	Campaign string
	// CloneTo is the directory of the clones of targets from [Clones]. A missing directory is made. An existing clone
	// is used unchanged. Empty refuses such targets.
	CloneTo string
	// Depth is the number of commits in the history of a clone. Zero means all. The contents of files are fetched when
	// they are needed.
	Depth int
	// Branch is the new branch of the commit. It is made in each tree that has changed. Empty means the current branch
	// of the tree.
	Branch string
	// Message is the message of the commit. {{campaign}}, {{target}}, {{branch}}, {{files}} and {{edits}} stand for
	// their values. Empty means "millrace: {{campaign}}".
	Message string
	// Author is author and committer, as "Name <mail>". Empty means the author of git's configuration.
	Author string
	// AllowDirty opens trees with changes that are not committed. They are not put into the commit, unless the pipeline
	// changes the same file.
	AllowDirty bool
	// Then is a program and its arguments that run in each changed tree after the commit, with the environment of this
	// process, MILLRACE_TARGET and MILLRACE_BRANCH. A failure is a failure of the target. The next attempt runs it
	// again, and makes no second commit. Nil means nothing.
	Then []string
	// Timeout limits the time of one call of git or Then. Zero means 10 minutes.
	Timeout time.Duration
}

// urlLabel is the label of a target that is a clone.
const urlLabel = "git"

// Check returns an error for the first invalid field.
func (t Trees) Check() error {
	wrong := func(field, value, reason string) error {
		return &errorform.FieldError{Field: "Trees." + field, Value: value, Reason: reason}
	}
	if err := checkCampaign(t.Campaign); err != "" {
		return wrong("Campaign", t.Campaign, err)
	}
	switch {
	case t.Depth < 0:
		return wrong("Depth", fmt.Sprint(t.Depth), "a negative number is not allowed")
	case t.Timeout < 0:
		return wrong("Timeout", t.Timeout.String(), "a negative time is not allowed")
	case t.Branch != "" && !validBranch(t.Branch):
		return wrong("Branch", t.Branch, "git does not take this for the name of a branch")
	case t.Author != "" && !authorForm.MatchString(t.Author):
		return wrong("Author", t.Author, "it has to be Name <mail>")
	case strings.ContainsRune(t.Message, 0):
		return wrong("Message", "", "it has a NUL")
	case t.Then != nil && (len(t.Then) == 0 || t.Then[0] == ""):
		return wrong("Then", "", "it has no program")
	}
	return nil
}

// Open implements [fleet.Trees]. The error is a *[fleet.TargetError] if another attempt does not help: for an address
// that is not allowed, a tree with changes, a repository whose own settings run programs, or a branch that exists
// already.
func (t Trees) Open(ctx context.Context, target fleet.Target) (fleet.Tree, error) {
	if err := t.Check(); err != nil {
		return fleet.Tree{}, refused(target, "%v", err)
	}
	dir, err := t.dir(ctx, target)
	if err != nil {
		return fleet.Tree{}, err
	}
	o, err := t.open(ctx, target, dir)
	if err != nil {
		return fleet.Tree{}, err
	}
	return fleet.Tree{FS: o.fs, Close: o.close}, nil
}

// Dir returns the directory of a target: its root, or its clone, which may not exist yet.
func (t Trees) Dir(target fleet.Target) (string, error) {
	if _, clone := target.Labels[urlLabel]; !clone {
		if target.Root == "" {
			return "", refused(target, "it has no root")
		}
		return filepath.Abs(target.Root)
	}
	if t.CloneTo == "" {
		return "", refused(target, "it is to be cloned, and a directory for clones is missing")
	}
	if !cloneForm.MatchString(target.Root) {
		return "", refused(target, "the root is not the name of a clone")
	}
	return filepath.Abs(filepath.Join(t.CloneTo, target.Root))
}

// refused is the error of a target that no other attempt opens.
func refused(target fleet.Target, format string, args ...any) error {
	return &fleet.TargetError{ID: show.Within(strings.ToValidUTF8(target.ID, "\uFFFD"), 100),
		Reason: fmt.Sprintf(format, args...)}
}

// policy returns the policy of git and Then: they may do everything that this process may do.
func (t Trees) policy(words []string, env map[string]string) command.Policy {
	return command.Policy{
		Allow: []string{command.Pattern(words...)}, PassEnv: inherited(), Env: env, Sandbox: command.Off,
		MaxTimeout: t.Timeout, MaxOutput: mostOutput,
	}
}
