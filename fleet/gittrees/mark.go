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

// mark is the record of a campaign in the git directory of a tree. From it a later process finds out which campaign has
// changed the tree, and whether the commit is made.
type mark struct {
	State string `json:"state"`
	// Base is the commit at which the campaign began, "" in a repository without a commit. Head is the branch at that
	// time, "" for none.
	Base string `json:"base"`
	Head string `json:"head,omitempty"`
	// Branch and Commit are the branch and the id of the commit, Paths the paths in it.
	Branch string   `json:"branch,omitempty"`
	Commit string   `json:"commit,omitempty"`
	Paths  []string `json:"paths,omitempty"`
	// Backup is the backup id of the change in the tree, for undo.
	Backup string `json:"backup,omitempty"`
}

// The states of a mark, in the order in which they come.
const (
	stateOpen       = "open"       // the pipeline may have changed the tree
	stateCommitting = "committing" // git may have made the commit
	stateCommitted  = "committed"  // the commit is made, and Then must run
	stateDone       = "done"       // all is done
	stateUndone     = "undone"     // the commit was undone
)

// lockWait is the time after which an unchanged lock of git counts as left over.
const lockWait = 2 * time.Second

// unlock removes locks of git that were left when a process was killed during the commit. A lock that disappears or
// changes during the wait belongs to a running git.
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

// lockFile is the file that locks an open tree of git.
const lockFile = "millrace-fleet.lock"

// mostMark is the largest size of a mark, in bytes.
const mostMark = 64 << 20

// readMark returns the mark, or nil.
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

// writeMark writes the mark atomically.
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
