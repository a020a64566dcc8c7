package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-go/millrace/backup"
)

// history is the list of a tree's backups, newest first. An undo is a commit that reverts another (Info.Restores);
// a redo reverts an undo, so it makes the undone change again.
type history []backup.Info

// isUndone reports whether nothing of a commit is left to revert.
func isUndone(i backup.Info) bool { return i.UndoneBy != "" && i.Left == 0 }

// isUndo reports whether a commit is an undo. A commit that reverted one whose backup no longer exists counts as an
// undo.
func (h history) isUndo(i backup.Info) bool {
	if i.Restores == "" {
		return false
	}
	for _, other := range h {
		if other.ID == i.Restores {
			return !h.isUndo(other)
		}
	}
	return true
}

// lastCommit returns the newest commit that is not an undo, not a redo, and not undone.
func (h history) lastCommit() (id string, err error) {
	return h.newest("there is nothing to undo", func(i backup.Info) bool { return i.Restores == "" && !isUndone(i) })
}

// lastUndo returns the newest undo that is not undone.
func (h history) lastUndo() (id string, err error) {
	return h.newest("there is nothing to redo", func(i backup.Info) bool { return h.isUndo(i) && !isUndone(i) })
}

// newest returns the newest commit for which wanted returns true. An unreadable backup could be a newer commit, so it
// is an error.
func (h history) newest(none string, wanted func(backup.Info) bool) (string, error) {
	var found string
	for _, i := range h {
		if i.Err == nil && wanted(i) {
			found = i.ID
			break
		}
	}
	for _, i := range h {
		if i.Err != nil && second(i.ID) >= second(found) {
			return "", &usageError{fmt.Errorf("which commit is the newest cannot be told, name one: backup %s: %w",
				i.ID, i.Err)}
		}
	}
	if found == "" {
		return "", &usageError{errors.New(none)}
	}
	return found, nil
}

// second returns the time in the id of a backup, to the second.
func second(id string) string { return id[:min(len(id), len("20060102_150405"))] }

// ago returns the rough age of a time.
func ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d days ago", d/(24*time.Hour))
	}
	return t.Local().Format(time.DateOnly)
}
