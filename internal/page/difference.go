package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
)

// KindsOf returns the function for the kind under which a change of a plan is shown.
func KindsOf(changed millrace.FilesChanged) func(c change.Change) change.ChangeKind {
	kinds := make(map[string]change.ChangeKind)
	note := func(kind change.ChangeKind, names []string) {
		for _, name := range names {
			kinds[name] = kind
		}
	}
	note(change.Created, changed.Created)
	note(change.Modified, changed.Modified)
	note(change.Deleted, changed.Deleted)
	for _, moved := range changed.Renamed {
		kinds[moved.To] = change.Renamed
	}
	return func(c change.Change) change.ChangeKind {
		kind, ok := kinds[c.Path]
		switch {
		case ok:
			return kind
		case c.Old.Kind != change.Dir && c.Old.Kind != change.Absent && c.New.Kind == change.Dir &&
			c.Kind == change.Modified:
			return change.Created // the file has moved, and a directory is made at its old name
		}
		return c.Kind
	}
}

// Difference has the hunks of a change, or a note in place of them.
type Difference struct {
	// Hunks are the places that differ, and Added and Removed the numbers of their lines.
	Hunks          []millrace.Hunk
	Added, Removed int
	// Note is the reason why hunks are missing, "" without a reason.
	Note string

	bytes int64 // of the lines
}

// Read reads the difference of a change. A file that is too large to be shown has a Note.
func Read(plan *millrace.Plan, c change.Change) (Difference, error) {
	var d Difference
	switch {
	case c.Old.Kind != change.File && c.New.Kind != change.File:
		return d, nil
	case c.Old.Kind == change.File && c.New.Kind == change.File && c.Old.Hash == c.New.Hash:
		return d, nil
	}
	list, err := plan.Files(c.Path)
	if err != nil {
		if millrace.ErrorCode(err) == "limit" {
			return Difference{Note: "it is too large to be shown"}, nil
		}
		return d, err
	}
	// Files below a directory that was a file come with it.
	at := slices.IndexFunc(list, func(diff millrace.FileDiff) bool { return diff.Path == c.Path })
	if at < 0 {
		return d, nil
	}
	d.Hunks = list[at].Hunks
	if list[at].Binary {
		d.Note = "binary, " + size(c.Old) + " → " + size(c.New)
	}
	for _, h := range d.Hunks {
		d.bytes += int64(len(h.Text))
		for line := range strings.Lines(h.Text) {
			switch line[0] {
			case '+':
				d.Added++
			case '-':
				d.Removed++
			}
		}
	}
	return d, nil
}

func size(s change.State) string {
	if s.Kind != change.File {
		return "nothing"
	}
	return strconv.FormatInt(s.Size, 10) + " bytes"
}
