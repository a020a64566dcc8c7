package actions

import (
	"context"
	"errors"
	"path"
)

// WorkspaceOptions say what of the tree a workspace has, and what comes back of it. The zero value means all of both.
// The lists are globs as those of [Search]; a glob that names a directory matches all in it. A glob that is not valid
// is an error of [Call.Workspace].
type WorkspaceOptions struct {
	// Needs has the globs of files that are made real, empty means all. Exclude has the globs of files that are not, and
	// wins. Files that were not made real do not count as deleted later.
	Needs, Exclude []string
	// Writes takes what may come back, empty all. Other changes are left out, with a warning.
	Writes []string
	// NoIgnore also brings back what .gitignore leaves out.
	NoIgnore bool

	needs, exclude, writes []glob // set by compiled
}

// compiled returns the options with what [WorkspaceOptions.Makes] and [WorkspaceOptions.Brings] go by. An error names
// the glob that is not valid.
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

// Makes reports whether a file is made real, by its canonical name. It can be asked of options that
// [Call.OpenWorkspace] is given, from several goroutines.
func (o WorkspaceOptions) Makes(name string) bool {
	return (len(o.needs) == 0 || withinGlob(o.needs, name)) && !withinGlob(o.exclude, name)
}

// Brings reports whether what was changed at a name comes back, as Makes does.
func (o WorkspaceOptions) Brings(name string) bool {
	return len(o.writes) == 0 || withinGlob(o.writes, name)
}

// withinGlob reports whether a glob takes the name or a directory that it is in.
func withinGlob(globs []glob, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if anyGlob(globs, name) {
			return true
		}
	}
	return false
}

// Workspace is the tree as the steps before have left it, made real in a directory of the system, for programs that
// know nothing of stages. It is the caller's until TakeBack or Drop is called, or its attempt is over; no program may
// work in it any more then. A run has one, which steps get one after the other. Its methods are called by one goroutine
// at a time.
type Workspace struct {
	// Root is the directory that has the tree. Temp and Home are private directories of the run, for TMPDIR and HOME.
	// All three are absolute paths of the system, and may be written to.
	Root, Temp, Home string

	// OnShared, OnTakeBack and OnDrop do what the methods of these names say. The executor sets them, or a test
	// that has its own [Call.OpenWorkspace]; nil means that there is nothing to do.
	OnShared   func() (string, error)
	OnTakeBack func(ctx context.Context) (Outcome, error)
	OnDrop     func()
}

// Shared returns the directory that all steps of the run can use to hand things on: an absolute path. It is made when
// it is asked for first, and is gone with the run.
func (w *Workspace) Shared() (string, error) {
	if w.OnShared == nil {
		return "", errors.New("there is no shared directory")
	}
	return w.OnShared()
}

// TakeBack stages what has changed below Root since the workspace was opened, as the work of this step, and ends the
// workspace. The Outcome has the files that were made, changed, or have got a new name, the renames, and the number of
// changed regions of each file; its Data is {"changed": […], "deleted": […]}, sorted lists of names. On an error part
// of it may be staged: return the error, so that the step fails.
func (w *Workspace) TakeBack(ctx context.Context) (Outcome, error) {
	if w.OnTakeBack == nil {
		return Outcome{}, nil
	}
	return w.OnTakeBack(ctx)
}

// Drop ends the workspace, and nothing of it comes back. It does nothing where the workspace has ended already.
func (w *Workspace) Drop() {
	if w.OnDrop != nil {
		w.OnDrop()
	}
}

// Workspace makes the tree real, as the steps before and this one have left it. An action that calls it needs Exclusive
// in its [Spec]: other steps that write meanwhile could not be told from it. It waits for nothing else, but a large
// tree takes its time, which is that of the attempt.
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
