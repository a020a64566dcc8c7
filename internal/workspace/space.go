package workspace

import (
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
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/spf13/afero"
)

// Space is the tree on disk that a run makes for its steps, from the first step that needs it to the last. Steps that
// need it run one at a time, so it has one user. The fields are set once, before the first call.
type Space struct {
	// Policy limits the tree and has its location.
	Policy command.Policy
	// Shared is the host's directory for the steps to share, "" for a directory in the tree.
	Shared string
	// FS is the file system of the run.
	FS afero.Fs
	// Note adds a warning to the run.
	Note func(about, format string, args ...any)

	mu   sync.Mutex
	call *actions.Call // receives the warnings, nil before the first workspace
	tree *scratch.Tree // nil before the first step that needs it
}

var errInside = errors.New(
	"the directory for the trees of commands lies in the tree itself, where programs would find what the tree belongs to: " +
		"set Commands.Scratch to one outside of it")

// Open opens the tree for a step, whose call receives the warnings from now on. If the run's tree is a directory of the
// system, it always gets the same path, because caches of compilers contain the path; otherwise the path is different
// in each run.
func (s *Space) Open(ctx context.Context, call *actions.Call) (*scratch.Tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.call = call
	return s.opened(ctx)
}

// SharedDir returns the directory shared by the steps of the run. Concurrent steps may call it.
func (s *Space) SharedDir(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Shared != "" {
		return sharedDir(s.Shared)
	}
	tree, err := s.opened(ctx)
	if err != nil {
		return "", err
	}
	return tree.Shared()
}

// sharedDir makes the host's shared directory, unless it exists.
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
		err = fmt.Errorf("%s can be written to by other users: set Executor.Shared to a directory of this user alone",
			dir)
	}
	return real, err
}

// CheckShared returns an error if the steps of a run on the tree cannot share the host's directory.
func CheckShared(dir string, fsys afero.Fs) error {
	if !filepath.IsAbs(dir) {
		return errors.New("it has to be an absolute name")
	}
	root, ok := fsys.(*rootfs.FS)
	if !ok || root.Dir() == "" {
		return nil
	}
	real, missing := filepath.EvalSymlinks(dir)
	if isInside(dir, root.Dir()) || missing == nil && isInside(root.Dir(), real) {
		return errors.New("it and the tree that the run is about lie in each other: commands can write there")
	}
	return nil
}

// opened is Open for callers that have the lock.
func (s *Space) opened(ctx context.Context) (*scratch.Tree, error) {
	if s.tree != nil {
		return s.tree, nil
	}
	policy := s.Policy
	dir := policy.Scratch
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return nil, fmt.Errorf("there is no directory for the trees of commands: %w; set Commands.Scratch", err)
		}
	}
	config := scratch.Config{
		Dir: dir, Keep: policy.KeepScratch, MaxFiles: policy.MaxScratchFiles, MaxBytes: policy.MaxScratchBytes,
		MaxChanged: policy.MaxChangedFiles,
		// Processes left by a killed run would write to the tree of this run.
		Reap: command.Reap,
		Warn: func(text string) {
			if s.call != nil {
				s.call.Warnf("%s", policy.Mask(text)) // names can contain secrets
			}
		},
	}
	real := ""
	if root, ok := s.FS.(*rootfs.FS); ok {
		real = root.Dir()
	}
	if real == "" {
		config.Tree, config.Keep = rand.Text(), false // it is not used again
	} else {
		if isInside(dir, real) {
			return nil, actions.Permanent(errInside)
		}
		config.Tree, config.Name = real, filepath.Base(real)
	}
	tree, err := scratch.Open(ctx, config)
	if err != nil {
		return nil, Error(err)
	}
	s.tree = tree
	return tree, nil
}

// isInside reports whether a directory, which need not exist yet, is another directory or inside it.
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

// Close removes the tree after the last step, when the stage has the changes.
func (s *Space) Close() {
	if s.tree == nil {
		return
	}
	if err := s.tree.Close(); err != nil {
		s.Note("scratch", "the tree that was made for commands could not be removed: %v", err)
	}
	s.tree = nil
}

// Error converts an error of a scratch tree for steps: a limit becomes an *actions.LimitError.
func Error(err error) error {
	limit, ok := errors.AsType[*scratch.LimitError](err)
	if !ok {
		return err
	}
	what, ok := map[string]string{
		scratch.LimitFiles: kinds.LimitScratchFiles, scratch.LimitBytes: kinds.LimitScratchBytes,
		scratch.LimitChanged: kinds.LimitChangedFiles,
	}[limit.What]
	if !ok {
		return err
	}
	return &actions.LimitError{What: what, Limit: limit.Limit, Got: limit.Got}
}
