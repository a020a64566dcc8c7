package actions

import (
	"context"
	"errors"
	"path"
)

// WorkspaceOptions choose the files that a workspace has, and the changes that come back. The zero value means all. The
// lists have globs as in [Search]; a glob that matches a directory matches everything in it. An invalid glob is
// an error of [Call.Workspace].
type WorkspaceOptions struct {
	// Needs has the globs of files that are put into the workspace; empty means all. Exclude has the globs of files that
	// are not, and wins. Files that were not put there do not count as deleted later.
	Needs, Exclude []string
	// Writes has the globs of files whose changes come back; empty means all. Other changes are dropped, with a warning.
	Writes []string
	// NoIgnore also brings back files that .gitignore excludes.
	NoIgnore bool

	needs, exclude, writes []glob // set by compiled
}

// compiled returns the options with the globs for [WorkspaceOptions.Makes] and [WorkspaceOptions.Brings]. An error
// names the invalid glob.
func (o WorkspaceOptions) compiled() (WorkspaceOptions, error) {
	for _, list := range []struct {
		patterns []string
		into     *[]glob
	}{{o.Needs, &o.needs}, {o.Exclude, &o.exclude}, {o.Writes, &o.writes}} {
		var err error
		if *list.into, err = compileGlobs(list.patterns); err != nil {
			return o, err
		}
	}
	return o, nil
}

// Makes reports whether a file is put into the workspace, by its canonical name. It works for the options that
// [Call.OpenWorkspace] receives, and is safe for concurrent use.
func (o WorkspaceOptions) Makes(name string) bool {
	return (len(o.needs) == 0 || withinGlob(o.needs, name)) && !withinGlob(o.exclude, name)
}

// Brings reports whether a change at a name comes back. Like Makes, it works for the options that OpenWorkspace
// receives.
func (o WorkspaceOptions) Brings(name string) bool {
	return len(o.writes) == 0 || withinGlob(o.writes, name)
}

// withinGlob reports whether a glob matches the name or a directory above it.
func withinGlob(globs []glob, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if anyGlob(globs, name) {
			return true
		}
	}
	return false
}

// Workspace is a copy of the tree, in the state after the steps before, in a directory of the system, for programs that
// cannot read stages. The caller owns it until TakeBack or Drop is called, or the attempt ends; no program may work
// in it after that. A run has one workspace, which its steps use in turn. Its methods are called by one goroutine at a
// time.
type Workspace struct {
	// Root is the directory with the tree. Temp and Home are private directories of the run, for TMPDIR and HOME. All
	// three are absolute paths of the system, and writable.
	Root, Temp, Home string

	// OnShared, OnTakeBack and OnDrop implement the methods of these names. The executor sets them, or a test with its own
	// [Call.OpenWorkspace]; nil means nothing to do.
	OnShared   func() (string, error)
	OnTakeBack func(ctx context.Context) (Outcome, error)
	OnDrop     func()
}

// Shared returns the directory in which all steps of the run can exchange files: an absolute path. It is created at the
// first call, and removed with the run.
func (w *Workspace) Shared() (string, error) {
	if w.OnShared == nil {
		return "", errors.New("there is no shared directory")
	}
	return w.OnShared()
}

// TakeBack stages the changes below Root since the workspace was opened, as changes of this step, and ends the
// workspace. The Outcome has the created, changed and renamed files, the renames, and the number of changed regions of
// each file; its Data is {"changed": […], "deleted": […]}, sorted lists of names. After an error a part may be staged:
// return the error, so that the step fails.
func (w *Workspace) TakeBack(ctx context.Context) (Outcome, error) {
	if w.OnTakeBack == nil {
		return Outcome{}, nil
	}
	return w.OnTakeBack(ctx)
}

// Drop ends the workspace and discards its changes. It does nothing if the workspace has already ended.
func (w *Workspace) Drop() {
	if w.OnDrop != nil {
		w.OnDrop()
	}
}

// Workspace creates the workspace, with the tree as the steps before and this step have left it. An action that calls
// it needs Exclusive in its [Spec], because changes of concurrent steps would count as its own. A large tree needs
// time, which counts towards the attempt.
func (c *Call) Workspace(ctx context.Context, o WorkspaceOptions) (*Workspace, error) {
	if c.OpenWorkspace == nil {
		return nil, Permanent(errors.New("there are no workspaces here"))
	}
	o, err := o.compiled()
	if err != nil {
		return nil, Permanent(err)
	}
	return c.OpenWorkspace(ctx, o)
}
