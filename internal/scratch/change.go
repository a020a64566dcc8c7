package scratch

import (
	"io"
	"io/fs"

	"github.com/millrace-go/millrace/change"
)

// Change is what a program has done to one path. Files are known by their identity and not by their names: a file that
// stands elsewhere now was renamed, alone or with its directory.
type Change struct {
	// Path is where it stands now; of what was removed, where it stood before all other changes.
	Path string
	// From is where it stood before, if it was itself renamed. Entries of a renamed directory were not.
	From string
	// Kind is what it is now: File, Dir, Symlink, or Absent for what was removed.
	Kind change.Kind
	// Mode are the permission bits of a file or a directory.
	Mode fs.FileMode
	// Target is that of a symbolic link, with slashes.
	Target string
	// Written means that the bytes of the file are new. Otherwise they are what they were.
	Written bool
	// Size is how many bytes a file that was written has.
	Size int64

	open  func() (io.ReadCloser, error)
	bases []basis // what the view had there, and where it was before
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
	// Files are the paths of files and links that were made, written, or given another mode or name, as they are called
	// now, sorted.
	Files []string
	// Removed are the paths of files and links that were removed, sorted.
	Removed []string
	// Renames maps old names of files and links to new ones.
	Renames map[string]string
	// Counts has the number of changed places of each text file, and 1 for a binary file.
	Counts map[string]int
	// Edits is the sum of the counts.
	Edits int
	// Bytes is how many bytes of new text were staged: whole files that are new or not text, and of other files
	// the lines that differ.
	Bytes int64
}
