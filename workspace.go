package millrace

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/spf13/afero"
)

// scratchTree is the tree that a run makes real for its steps, from the first one that asks for it to the last. Steps that
// ask for it run by themselves, so it has one user at a time.
type scratchTree struct {
	x    Executor
	t    *tree
	call *actions.Call // that is told of what a user should know

	mu   sync.Mutex
	tree *scratch.Tree // nil before the first
}

var errScratchInside = errors.New("the directory for the trees of commands lies in the tree itself, where programs would find what the tree belongs to: " +
	"set Commands.Scratch to one outside of it")

// open opens the tree for the steps of a run. A tree of the system has its place, which caches of compilers go by; others
// have one for the run.
func (s *scratchTree) open(ctx context.Context) (*scratch.Tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened(ctx)
}

// shared returns the directory that the steps of the run share. Steps that run at the same time may ask for it.
func (s *scratchTree) shared(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.x.Shared != "" {
		return sharedDir(s.x.Shared)
	}
	tree, err := s.opened(ctx)
	if err != nil {
		return "", err
	}
	return tree.Shared()
}

// sharedDir makes the directory that the host has named for the steps of a run, unless it is there.
func sharedDir(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(real)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		err = fmt.Errorf("%s can be written to by other users: set Executor.Shared to a directory of this user alone", dir)
	}
	return real, err
}

// checkShared returns an error if the directory that the host has named is none that steps of a run on this tree may share.
func (x Executor) checkShared(fsys afero.Fs) error {
	if x.Shared == "" {
		return nil
	}
	err := error(nil)
	if !filepath.IsAbs(x.Shared) {
		err = errors.New("it has to be an absolute name")
	} else if root, ok := fsys.(*rootfs.FS); ok && root.Dir() != "" {
		real, missing := filepath.EvalSymlinks(x.Shared)
		if isInside(x.Shared, root.Dir()) || missing == nil && isInside(root.Dir(), real) {
			err = errors.New("it and the tree that the run is about lie in each other: commands can write there")
		}
	}
	if err != nil {
		return &ExecutorError{Field: "Shared", Value: x.Shared, Err: err}
	}
	return nil
}

// opened is open for callers that have the lock.
func (s *scratchTree) opened(ctx context.Context) (*scratch.Tree, error) {
	if s.tree != nil {
		return s.tree, nil
	}
	policy := s.x.Commands
	dir := policy.Scratch
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return nil, fmt.Errorf("there is no directory for the trees of commands: %w; set Commands.Scratch", err)
		}
	}
	config := scratch.Config{
		Dir: dir, Keep: policy.KeepScratch, MaxFiles: policy.MaxScratchFiles, MaxBytes: policy.MaxScratchBytes, MaxChanged: policy.MaxChangedFiles,
		// What a run that was killed has left running would write to the tree of this one.
		Reap: command.Reap,
		Warn: func(text string) {
			if s.call != nil {
				s.call.Warnf("%s", policy.Mask(text)) // names may have secrets in them
			}
		},
	}
	real := ""
	if root, ok := s.t.fs.(*rootfs.FS); ok {
		real = root.Dir()
	}
	if real == "" {
		config.Tree, config.Keep = rand.Text(), false // which is not found again
	} else {
		if isInside(dir, real) {
			return nil, actions.Permanent(errScratchInside)
		}
		config.Tree, config.Name = real, filepath.Base(real)
	}
	tree, err := scratch.Open(ctx, config)
	if err != nil {
		return nil, scratchError(err)
	}
	s.tree = tree
	return tree, nil
}

// isInside reports whether a directory, which need not be there yet, is another one or lies in it.
func isInside(dir, in string) bool {
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			rel, err := filepath.Rel(in, filepath.Join(real, rest))
			return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
	}
}

// close removes the tree, which nothing needs any more once the steps are done: the stage has what came out of it.
func (s *scratchTree) close() {
	if s.tree == nil {
		return
	}
	if err := s.tree.Close(); err != nil {
		s.t.notes.Add("scratch", "the tree that was made for commands could not be removed: %v", err)
	}
	s.tree = nil
}

// scratchError is an error of a scratch tree as steps know it.
func scratchError(err error) error {
	limit, ok := errors.AsType[*scratch.LimitError](err)
	if !ok {
		return err
	}
	what, ok := map[string]string{
		scratch.LimitFiles: actions.LimitScratchFiles, scratch.LimitBytes: actions.LimitScratchBytes, scratch.LimitChanged: actions.LimitChangedFiles,
	}[limit.What]
	if !ok {
		return err
	}
	return &actions.LimitError{What: what, Limit: limit.Limit, Got: limit.Got}
}

// attemptSpace is what an attempt has of the scratch tree.
type attemptSpace struct {
	r    *run
	v    *visit
	view *stage.Stage
	call *actions.Call

	mu      sync.Mutex    // held by each method, so that the attempt does not end within one
	tree    *scratch.Tree // nil unless a workspace is open
	options scratch.Options
	over    bool
}

// workspaceOf lets the action of a visit open workspaces until end is called.
func (r *run) workspaceOf(v *visit, view *stage.Stage, call *actions.Call) (end func()) {
	s := &attemptSpace{r: r, v: v, view: view, call: call}
	call.OpenWorkspace = s.open
	return func() {
		s.mu.Lock()
		s.over = true
		s.mu.Unlock()
		s.drop()
	}
}

// open implements [actions.Call.OpenWorkspace].
func (s *attemptSpace) open(ctx context.Context, o actions.WorkspaceOptions) (*actions.Workspace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return nil, actions.Permanent(errors.New("the step is over, so it gets no workspace"))
	case s.tree != nil:
		return nil, actions.Permanent(errors.New("the step has a workspace that is not taken back or dropped yet"))
	case !s.r.specs[s.v.step].Exclusive:
		return nil, actions.Permanent(fmt.Errorf("action %s opens a workspace, so its Spec has to say Exclusive", s.v.result.Action))
	}
	options := scratch.Options{NoIgnore: o.NoIgnore}
	if len(o.Needs)+len(o.Exclude) > 0 {
		options.Make = o.Makes
	}
	if len(o.Writes) > 0 {
		options.Bring = o.Brings
	}
	s.r.scratch.call = s.call
	tree, err := s.r.scratch.open(ctx)
	if err == nil {
		err = scratchError(tree.Renew(ctx, s.view, options))
	}
	if err != nil {
		return nil, err
	}
	s.tree, s.options = tree, options
	return &actions.Workspace{
		Root: tree.Root(), Temp: tree.Temp(), Home: tree.Home(),
		OnShared: func() (string, error) { return s.r.scratch.shared(ctx) }, OnTakeBack: s.takeBack, OnDrop: s.drop,
	}, nil
}

// drop ends the workspace, and nothing of it counts.
func (s *attemptSpace) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree != nil {
		s.tree.Discard()
		s.tree = nil
	}
}

// takeBack ends the workspace, and stages what was changed in it.
func (s *attemptSpace) takeBack(ctx context.Context) (actions.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tree := s.tree
	if tree == nil {
		return actions.Outcome{}, actions.Permanent(errors.New("the workspace has ended already"))
	}
	s.tree = nil
	changes, err := tree.Collect(ctx, s.options)
	if err != nil {
		return actions.Outcome{}, s.hidden(scratchError(err))
	}
	out, err := s.r.bring(ctx, s.v, s.view, s.call, changes)
	return out, s.hidden(err)
}

// hidden is an error about what a command has left, without secrets of the host: it can have them in names and links.
func (s *attemptSpace) hidden(err error) error {
	if err == nil {
		return nil
	}
	text := s.r.x.Commands.Mask(err.Error())
	switch {
	case text == err.Error():
		return err
	case retryable(s.r.p.steps[s.v.step].Action, err):
		return errors.New(text)
	default:
		return actions.Permanent(errors.New(text))
	}
}

// overtaken is the error of a step whose changes do not hold any more, for another program has written to the same paths
// while the step worked on its copy.
func (r *run) overtaken(drift *stage.DriftError) error {
	reasons := map[string]string{
		"created": "has been created by another program", "removed": "has been removed by another program",
		"entries": "another program has changed what is in the directory",
	}
	e := &ConflictError{Err: fsutil.ErrDrift, step: true}
	for _, d := range drift.Drifts {
		e.Conflicts = append(e.Conflicts, Conflict{
			Path: r.x.Commands.Mask(d.Path), Reason: cmp.Or(reasons[d.Reason], "has been changed by another program"),
		})
	}
	return e
}

// bring stages what was changed outside of the stage as the work of a visit. It counts like all other text that a step
// puts into files.
func (r *run) bring(ctx context.Context, v *visit, view *stage.Stage, call *actions.Call, changes []scratch.Change) (actions.Outcome, error) {
	left := call.Limits.StagedBytes() - call.StagedBefore - call.Staged() - v.brought
	tooMuch := func(got int64) error {
		return &actions.LimitError{What: actions.LimitStaged, Limit: call.Limits.StagedBytes(), Got: got}
	}
	grown := int64(0)
	for _, c := range changes {
		if !c.Written {
			continue
		}
		if most := call.Limits.FileBytes(); c.Size > most {
			return actions.Outcome{}, &actions.FileError{Path: c.Path, Err: &actions.LimitError{What: actions.LimitFile, Limit: most, Got: c.Size}}
		}
		if most := call.Limits.OutputBytes(); c.Size > most {
			return actions.Outcome{}, &actions.FileError{Path: c.Path, Err: &actions.LimitError{What: actions.LimitOutput, Limit: most, Got: c.Size}}
		}
		before := int64(0)
		if info, _, err := view.LstatIfPossible(cmp.Or(c.From, c.Path)); err == nil && info.Mode().IsRegular() {
			before = info.Size()
		}
		if grown += max(0, c.Size-before); grown > left { // before any of it is copied
			return actions.Outcome{}, tooMuch(grown)
		}
	}
	staged, err := scratch.Stage(ctx, view, changes)
	if drift, ok := errors.AsType[*stage.DriftError](err); ok {
		return actions.Outcome{}, r.overtaken(drift)
	}
	if err != nil {
		return actions.Outcome{}, scratchError(err)
	}
	const perEdit = 64
	v.brought += staged.Bytes + perEdit*int64(staged.Edits)
	if got := staged.Bytes + perEdit*int64(staged.Edits); got > left {
		return actions.Outcome{}, tooMuch(got)
	}
	v.changes = append(v.changes, changes...)
	changed, deleted := append([]string{}, staged.Files...), append([]string{}, staged.Removed...)
	return actions.Outcome{
		Files: changed, Renames: staged.Renames, Counts: staged.Counts, Edits: staged.Edits,
		Data: map[string]any{"changed": changed, "deleted": deleted},
	}, nil
}
