// Package change has the values by which the rest of millrace speaks of files: what stands at a path ([State], [Kind],
// [Hash]), what differs there between a base and a stage ([Change]), and in which bytes ([Splice], [Origin]).
//
// Changes are made by a stage, out of what was done to it: fsutil.Stage.Changes returns them, and a plan holds them
// from then on. Old is what the base had when the run read it first, New what a commit is to leave. A commit checks
// that Old is still there, writes, and keeps what Old says in the backup; a restore is a list of changes the other
// way round. [Change.OpenOld] and [Change.OpenNew] read the bytes of either side as long as the stage, or the tree
// that a stored plan was checked against, is there.
//
// All are plain values, and may be copied. Data that copies share, such as the text of a splice, must not be modified.
package change

import (
	"cmp"
	"errors"
	"io"

	"github.com/millrace-go/millrace/internal/backing"
)

// Problem is one path and what is wrong there, such as that it is not what a plan expects.
type Problem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// String returns the path and the reason.
func (p Problem) String() string { return p.Path + ": " + p.Reason }

// ChangeKind is what a change does to its path.
type ChangeKind string

// The kinds of changes, as they appear in JSON.
const (
	Created  ChangeKind = "created"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
	Renamed  ChangeKind = "renamed" // Change.From became Change.Path, edited perhaps
)

// Origin says who wrote some bytes: the step, and which of its edits, counted from 0.
type Origin struct {
	Step string `json:"step"`
	Edit int    `json:"edit"`
}

// Splice replaces Len bytes at offset Off of a file by Text. Off and Len count bytes of the file as it was before any
// splice of the same list, so a list can be read in any order and applied in one pass.
type Splice struct {
	Off  int64    `json:"off"`
	Len  int64    `json:"len"`
	Text []byte   `json:"text"`
	By   []Origin `json:"by,omitempty"`
}

// Change is the difference between the base and the stage at one path. A list of changes is in path order and has at
// most one change a path. A renamed file is one change at its new path; nothing is listed at its old one unless
// something else stands there now.
type Change struct {
	Kind ChangeKind `json:"kind"`
	Path string     `json:"path"`
	From string     `json:"from,omitempty"` // of Renamed only
	Old  State      `json:"old"`            // at From if that is set, else at Path
	New  State      `json:"new"`
	// Replaced is what the base has at Path where a rename puts another file in its place; the zero State if nothing.
	Replaced State `json:"replaced,omitzero"`
	// Splices turn the old bytes into the new ones, in ascending order of offsets, not overlapping. Nil for a file that
	// was written as a whole and for all that is not a changed file.
	Splices []Splice `json:"splices,omitempty"`
	// By names the steps that made the change, in the order they did.
	By []Origin `json:"by,omitempty"`
	// Permanent means that a deleted file is not kept in the trash.
	Permanent bool `json:"permanent,omitempty"`

	backed `json:"-"`
}

// backed has exported fields that our own packages set and go doc does not show.
type backed = backing.Backing

var errNoContent = errors.New("the change has no file there")

// OldPath returns where the base has what Old says: From if that is set, else Path.
func (c Change) OldPath() string { return cmp.Or(c.From, c.Path) }

// OpenOld opens the bytes the base had when the change was worked out. They are read from the base: if that has
// drifted since, reading fails or gives bytes whose hash is not Old.Hash.
func (c Change) OpenOld() (io.ReadCloser, error) {
	if c.OldBytes == nil {
		return nil, errNoContent
	}
	return c.OldBytes()
}

// OpenNew opens the bytes the change leaves at Path.
func (c Change) OpenNew() (io.ReadCloser, error) {
	if c.NewBytes == nil {
		return nil, errNoContent
	}
	return c.NewBytes()
}
