// Package change has the values by which the rest of millrace describes files: the file at a path ([State], [Kind],
// [Hash]), the difference between a base and a stage at a path ([Change]), and the bytes that differ ([Splice],
// [Origin]).
//
// A stage creates changes from the operations on it: fsutil.Stage.Changes returns them, and a plan holds them from then
// on. Old is the state of the base when the run first read it, New is the state after a commit. A commit checks that
// Old is still there, writes New, and keeps the files of Old in the backup; a restore is a list of reversed changes.
// [Change.OpenOld] and [Change.OpenNew] read the bytes of either side as long as the stage, or the tree that a stored
// plan was checked against, exists.
//
// All are plain values, and may be copied. Data that copies share, such as the text of a splice, must not be modified.
package change

import (
	"cmp"
	"errors"
	"io"

	"github.com/millrace-go/millrace/internal/backing"
)

// Problem is a path with a problem, for example that it differs from a plan's expectation.
type Problem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// String returns the path and the reason.
func (p Problem) String() string { return p.Path + ": " + p.Reason }

// ChangeKind is the effect of a change on its path.
type ChangeKind string

// The kinds of changes, as they appear in JSON.
const (
	Created  ChangeKind = "created"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
	Renamed  ChangeKind = "renamed" // Change.From became Change.Path, perhaps edited
)

// Origin is the author of some bytes: the step, and the index of its edit, from 0.
type Origin struct {
	Step string `json:"step"`
	Edit int    `json:"edit"`
}

// Splice replaces Len bytes at offset Off of a file by Text. Off and Len count bytes of the file before all splices of
// the same list, so a list can be read in any order and applied in one pass.
type Splice struct {
	Off  int64    `json:"off"`
	Len  int64    `json:"len"`
	Text []byte   `json:"text"`
	By   []Origin `json:"by,omitempty"`
}

// Change is the difference between the base and the stage at one path. A list of changes is in path order and has at
// most one change per path. A renamed file is one change at its new path; its old path has a change only if something
// else is there now.
type Change struct {
	Kind ChangeKind `json:"kind"`
	Path string     `json:"path"`
	From string     `json:"from,omitempty"` // only for Renamed
	Old  State      `json:"old"`            // at From if that is set, else at Path
	New  State      `json:"new"`
	// Replaced is the state of the base at Path if a rename puts another file there; the zero State if nothing was there.
	Replaced State `json:"replaced,omitzero"`
	// Splices turn the old bytes into the new bytes, in ascending order of offsets, without overlaps. Nil for a file that
	// was written as a whole, and for everything except a changed file.
	Splices []Splice `json:"splices,omitempty"`
	// By has the steps that made the change, in their order.
	By []Origin `json:"by,omitempty"`
	// Permanent means that a deleted file is not kept in the trash.
	Permanent bool `json:"permanent,omitempty"`

	backed `json:"-"`
}

// backed has exported fields that other packages of millrace set, and that go doc does not show.
type backed = backing.Backing

var errNoContent = errors.New("the change has no file there")

// OldPath returns the path of Old in the base: From if that is set, else Path.
func (c Change) OldPath() string { return cmp.Or(c.From, c.Path) }

// OpenOld opens the bytes that the base had when the change was computed. They are read from the base: if it has
// drifted since, reading fails or returns bytes whose hash is not Old.Hash.
func (c Change) OpenOld() (io.ReadCloser, error) {
	if c.OldBytes == nil {
		return nil, errNoContent
	}
	return c.OldBytes()
}

// OpenNew opens the bytes at Path after the change.
func (c Change) OpenNew() (io.ReadCloser, error) {
	if c.NewBytes == nil {
		return nil, errNoContent
	}
	return c.NewBytes()
}
