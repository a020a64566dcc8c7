package gittrees

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/names"
)

// opened is a tree of git that is open and locked.
type opened struct {
	repository
	target  fleet.Target
	fs, own *fsutil.RootFs // the tree and its git directory
	lock    io.Closer
	mark    *mark
}

// open opens the repository in a directory, and writes the mark of the campaign.
func (t Trees) open(ctx context.Context, target fleet.Target, dir string) (*opened, error) {
	o, err := t.locked(ctx, target, dir)
	if err != nil {
		return nil, err
	}
	if err := o.begin(ctx); err != nil {
		return nil, errors.Join(err, o.release())
	}
	return o, nil
}

// locked opens the repository in a directory and locks it against other work of fleets.
func (t Trees) locked(ctx context.Context, target fleet.Target, dir string) (*opened, error) {
	o := &opened{repository: repository{t: t, dir: dir}, target: target}
	var err error
	if o.fs, err = fsutil.OpenRoot(dir); err != nil {
		return nil, err
	}
	if err = o.find(ctx); err == nil {
		o.own, err = fsutil.OpenRoot(o.git)
	}
	if err == nil {
		var f afero.File // made in the git directory, and never removed: other processes may wait for it
		if f, err = o.own.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			err = f.Close()
		}
	}
	if err == nil {
		o.lock, err = o.own.LockFile(ctx, lockFile)
	}
	if err == nil {
		o.mark, err = t.readMark(o.own)
	}
	if err == nil {
		err = o.stillOf(ctx)
	}
	if err == nil {
		var reason string
		if reason, err = o.trusted(ctx); reason != "" {
			err = refused(target, "%s", reason)
		}
	}
	if err != nil {
		return nil, errors.Join(err, o.release())
	}
	return o, nil
}

// find finds the git directory. The directory of the tree must be the top of a repository.
func (o *opened) find(ctx context.Context) error {
	out, err := o.run(ctx, "", "rev-parse", "--show-toplevel", "--absolute-git-dir")
	if err != nil {
		return refused(o.target, "git cannot work in the directory: %v", err)
	}
	top, git, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\n")
	here, err := os.Stat(o.dir)
	if err != nil {
		return err
	}
	if there, err := os.Stat(filepath.FromSlash(top)); err != nil || !os.SameFile(here, there) {
		return refused(o.target, "the directory is not the top of a git repository")
	}
	o.git = filepath.FromSlash(git)
	return nil
}

// release releases everything that locked has opened and locked.
func (o *opened) release() error {
	var errs []error
	if o.lock != nil {
		errs = append(errs, o.lock.Close())
	}
	if o.own != nil {
		errs = append(errs, o.own.Close())
	}
	return errors.Join(append(errs, o.fs.Close())...)
}

// begin finds the state of the campaign in this tree. A tree without a mark of the campaign must be clean, and gets a
// mark.
func (o *opened) begin(ctx context.Context) error {
	if o.mark != nil && o.mark.State == stateCommitting {
		if err := o.unlock(ctx); err != nil {
			return err
		}
	}
	head, err := o.head(ctx)
	if err != nil {
		return err
	}
	if m := o.mark; m != nil {
		switch {
		case m.State == stateCommitting && head != m.Base:
			return o.adopt(ctx, head)
		case m.State != stateOpen, head == m.Base:
			return nil // the changes in the tree belong to this campaign
		}
	}
	if err := o.other(); err != nil {
		return err
	}
	if !o.t.AllowDirty {
		dirty, err := o.changed(ctx)
		if err != nil {
			return err
		}
		if len(dirty) > 0 {
			return refused(o.target, "the tree has changes that are not committed: %s", names.Some(dirty, 3, ", "))
		}
	}
	if b := o.t.Branch; b != "" {
		_, there, err := o.ask(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+b)
		if err != nil {
			return err
		}
		if there {
			return refused(o.target, "the branch %s is there already", b)
		}
	}
	branch, _, err := o.ask(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return err
	}
	o.mark = &mark{State: stateOpen, Base: head, Head: branch}
	return o.t.writeMark(o.own, o.mark)
}

// other returns an error if a clone has the mark of another campaign, because its branch may have moved.
func (o *opened) other() error {
	if o.target.Labels[urlLabel] == "" {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(o.git, "millrace-fleet-*.json"))
	if err != nil {
		return err
	}
	own := o.t.markFile()
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Base(name) == own })
	if len(names) > 0 {
		return refused(o.target, "another campaign has worked on the clone '%s': take another directory for clones",
			o.dir)
	}
	return nil
}

// head returns the current commit of the tree, "" before the first commit.
func (r repository) head(ctx context.Context) (string, error) {
	head, there, err := r.ask(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil || there {
		return head, err
	}
	// Git also answers no for a commit that cannot be read.
	id, there, err := r.ask(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	if err == nil && there {
		err = fmt.Errorf("git cannot read commit %.12s, which HEAD names", id)
	}
	return "", err
}

// changed returns the paths that differ from the commit of the tree, also new paths, but not ignored paths.
func (r repository) changed(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, "", "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all",
		"--no-renames")
	if err != nil {
		return nil, err
	}
	var paths []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 {
			paths = append(paths, entry[3:])
		}
	}
	return paths, nil
}
