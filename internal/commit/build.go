package commit

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
)

// entry is one path of a transaction: its record, and the values needed to apply it.
type entry struct {
	*journal.Record
	open backing.Opener // the new bytes; nil when undoing after a crash
	want change.State   // New as requested; Record.New is the state of the file as it was made
	meta string         // the file to copy owner and attributes from, "" for the file that was at the path before

	// seen is the change time of the file at the path when it was last checked. It is 0 if the time is useless: there is
	// no such time, or the transaction changes it itself.
	seen int64
	twin bool // the plan has the earlier file under another name too
	// made is the mode of a directory when it was made, allowed is the mode that its access control list allows.
	made, allowed fs.FileMode
}

// build makes the entries of the changes, in path order: one entry for each path that differs, however many changes
// name the path.
func build(changes []change.Change) ([]*entry, error) {
	before := make(map[string]change.State)
	after := make(map[string]*change.Change)
	moved := make(map[string]bool) // paths whose file is moved away
	found := func(path string, s change.State) error {
		known, twice := before[path]
		if twice && known.Kind != change.Absent && s.Kind != change.Absent && !known.SameContent(s) {
			return fmt.Errorf("changes contradict each other about what is at %q", path)
		}
		if !twice || known.Kind == change.Absent {
			before[path] = s
		}
		return nil
	}
	for i := range changes {
		c := &changes[i]
		if after[c.Path] != nil {
			return nil, fmt.Errorf("two changes of %q", c.Path)
		}
		after[c.Path], moved[c.From] = c, true
		at, under := c.Path, change.State{}
		if c.From != "" && c.From != c.Path {
			at, under = c.From, c.Replaced
			if err := found(c.Path, under); err != nil {
				return nil, err
			}
		}
		if err := found(at, c.Old); err != nil {
			return nil, err
		}
	}
	var entries []*entry
	listed := make(map[string]bool)
	for _, at := range slices.Sorted(maps.Keys(before)) {
		if e := newEntry(at, before[at], after[at], moved[at]); e != nil {
			e.Slot = len(entries)
			entries = append(entries, e)
			listed[at] = true
		}
	}
	for _, e := range entries {
		if !listed[e.From] {
			e.From = "" // there is a directory of that name again, so nothing was moved from it
		}
	}
	keepMoved(entries)
	return entries, nil
}

// keepMoved also keeps the files that were moved to the places of deleted files, and their directories. A deleted file
// can only be restored if the moved file goes back.
func keepMoved(entries []*entry) {
	byPath := make(map[string]*entry)
	for _, e := range entries {
		byPath[e.Path] = e
	}
	for _, e := range entries {
		for e.Trash && e.From != "" && !byPath[e.From].Trash && !byPath[e.From].Permanent {
			e = byPath[e.From]
			e.Trash = true
		}
	}
	for _, e := range entries {
		for e != nil && e.Trash && e.Path != "." {
			dir := byPath[path.Dir(e.Path)]
			if dir != nil && dir.Old.Kind == change.Dir && dir.New.Kind != change.Dir {
				dir.Trash, dir.Permanent = true, false
			}
			e = dir
		}
	}
}

// newEntry returns the entry of a path, nil if nothing changes there. c is nil if a file was moved away from the path.
// moved means that the present file is moved away, so the later file is a different file, even if it looks the same.
func newEntry(path string, old change.State, c *change.Change, moved bool) *entry {
	e := &entry{Record: &journal.Record{Path: path, Old: old}}
	if c == nil {
		if old.Kind == change.Absent {
			return nil
		}
		return e
	}
	if c.Kind == change.Deleted {
		e.Trash, e.Permanent = !c.Permanent, c.Permanent
		return e
	}
	e.New, e.want, e.meta = c.New, c.New, c.MetaFrom
	if c.Kind == change.Modified && disk.IsLeaf(old) && c.New.Kind == change.Dir && !moved { // the file is deleted
		e.Trash, e.Permanent = !c.Permanent, c.Permanent
	}
	e.open = func() (io.ReadCloser, error) { return c.OpenNew() } // a method value would hold a copy of the change
	e.New.ID = capability.Identity{}
	sameLeaf := c.Old.Kind == c.New.Kind && (c.New.Kind == change.Symlink && c.Old.Target == c.New.Target ||
		c.New.Kind == change.File && c.Old.Size == c.New.Size && c.Old.Hash == c.New.Hash &&
			c.New.Hash != change.Hash{})
	e.Attr = sameLeaf && !moved && (c.From == "" || c.From == path)
	if c.Trash && !e.Permanent && !e.Attr && (disk.IsLeaf(old) || old.Kind == change.Dir && disk.IsLeaf(c.New)) {
		e.Trash = true
	}
	if c.From != "" && c.From != path {
		e.From, e.Moved = c.From, sameLeaf
		return e
	}
	timed := !c.New.ModTime.IsZero() && !c.New.ModTime.Equal(c.Old.ModTime)
	switch {
	case e.Attr && c.Old.Mode == c.New.Mode && !timed,
		c.New.Kind == change.Dir && c.Old.Kind == change.Dir && c.Old.Mode == c.New.Mode,
		c.New.Kind == change.Absent && c.Old.Kind == change.Absent:
		return nil
	}
	return e
}

// isNewFile reports whether the entry puts a new file or link at its path.
func (e *entry) isNewFile() bool { return disk.IsLeaf(e.New) && !e.Attr }

// leaves reports whether the entry at the path must be removed, before a new entry is put there or without a new entry.
func (e *entry) leaves() bool {
	switch {
	case e.Attr, e.Old.Kind == change.Absent:
		return false
	case e.New.Kind == change.Absent:
		return true
	default:
		return (e.Old.Kind == change.Dir) != (e.New.Kind == change.Dir)
	}
}
