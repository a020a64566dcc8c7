package gittrees

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"
)

// mark is what the git directory of a tree keeps of a campaign. With it a later process finds out whose changes stand
// in the tree, and whether the commit is made.
type mark struct {
	State string `json:"state"`
	// Base is the commit that the campaign began at, "" in a repository without a commit, and Head the name of the
	// branch of then, "" for none.
	Base string `json:"base"`
	Head string `json:"head,omitempty"`
	// Branch and Commit are what was committed, Paths the paths in it.
	Branch string   `json:"branch,omitempty"`
	Commit string   `json:"commit,omitempty"`
	Paths  []string `json:"paths,omitempty"`
	// Backup is the id of the change in the tree, which undo takes.
	Backup string `json:"backup,omitempty"`
}

// The states of a mark, in the order in which they come.
const (
	stateOpen       = "open"       // the pipeline may have changed the tree
	stateCommitting = "committing" // git may have made the commit
	stateCommitted  = "committed"  // the commit is made, and Then is to run
	stateDone       = "done"       // all is done
	stateUndone     = "undone"     // the commit was taken back
)

// lockWait is how long a lock of git has to stand still until it counts as left over.
const lockWait = 2 * time.Second

// unlock removes the locks of git that a process has left which was killed while it made the commit. A lock that goes
// away or changes in the meantime is of a git that works.
func (o *opened) unlock(ctx context.Context) error {
	names := []string{"index.lock", "HEAD.lock"}
	if o.t.Branch != "" {
		names = append(names, "refs/heads/"+o.t.Branch+".lock")
	}
	for _, name := range names {
		before, err := o.own.Stat(name)
		if err != nil {
			continue // it was not left, or git reports it
		}
		timer := time.NewTimer(lockWait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		now, err := o.own.Stat(name)
		if err != nil || !now.ModTime().Equal(before.ModTime()) || now.Size() != before.Size() {
			continue
		}
		if err := o.own.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// markFile is the name of the mark of a campaign in the git directory.
func (t Trees) markFile() string { return "millrace-fleet-" + t.Campaign + ".json" }

// lockFile is what an open tree of git is locked by.
const lockFile = "millrace-fleet.lock"

// mostMark is how long a mark is at most, in bytes.
const mostMark = 64 << 20

// readMark returns the mark, nil if there is none.
func (t Trees) readMark(git afero.Fs) (*mark, error) {
	info, err := git.Stat(t.markFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Size() > mostMark || !info.Mode().IsRegular():
		return nil, fmt.Errorf("the mark '%s' of the git directory is not a file of that kind", t.markFile())
	}
	data, err := afero.ReadFile(git, t.markFile())
	if err != nil {
		return nil, err
	}
	m := new(mark)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("the mark '%s' of the git directory cannot be read: %w", t.markFile(), err)
	}
	return m, nil
}

// writeMark writes the mark in one piece.
func (t Trees) writeMark(git afero.Fs, m *mark) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	part := t.markFile() + ".part"
	f, err := git.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return git.Rename(part, t.markFile())
}
