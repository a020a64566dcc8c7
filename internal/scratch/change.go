package scratch

import (
	"io"
	"io/fs"

	"github.com/millrace-go/millrace/change"
)

// Change is the change of one path by a program. Files are recognized by their identity and not by their names: a file
// that is now elsewhere was renamed, alone or with its directory.
type Change struct {
	// Path is the path after the changes. For a removed path, it is the path before all other changes.
	Path string
	// From is the old path if the entry itself was renamed. It is empty for entries of a renamed directory.
	From string
	// Kind is the kind after the change: File, Dir, Symlink, or Absent for a removed path.
	Kind change.Kind
	// Mode are the permission bits of a file or a directory.
	Mode fs.FileMode
	// Target is the target of a symbolic link, with slashes.
	Target string
	// Written means that the bytes of the file are new. Otherwise the bytes are unchanged.
	Written bool
	// Size is the size in bytes of a file that was written.
	Size int64

	open  func() (io.ReadCloser, error)
	bases []basis // the states of the view at Path and From
}

// Open opens the bytes of a file that was written. The bytes of a [Tree] can be read until its next Renew.
func (c Change) Open() (io.ReadCloser, error) {
	if !c.Written || c.open == nil {
		return nil, fs.ErrInvalid
	}
	return c.open()
}

// Outcome describes what was staged.
type Outcome struct {
	// Files are the new paths of files and links that were made, written or renamed, or that got another mode, sorted.
	Files []string
	// Removed are the paths of files and links that were removed, sorted.
	Removed []string
	// Renames maps old names of files and links to new ones.
	Renames map[string]string
	// Counts has the number of changed places of each text file, and 1 for a binary file.
	Counts map[string]int
	// Edits is the sum of the counts.
	Edits int
	// Bytes is the number of bytes of new text that were staged: whole files if they are new or not text, otherwise the
	// lines that differ.
	Bytes int64
}
