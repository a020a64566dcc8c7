package journal

import (
	"errors"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
)

// IgnoreFile hides the directory that contains it from version control.
const IgnoreFile = ".gitignore"

// ignoreText is for a directory that millrace made, foundText for a directory that existed before: a person may have
// made it to mark the root of the tree.
const (
	ignoreText = "*\n"
	foundText  = ignoreText + "# millrace has found this directory, and does not remove it.\n"
)

// EnsureIgnore hides a directory from version control; found means that the directory existed before. A file with any
// other text is replaced, because it may have come with the tree. It would let backups and runs, with the contents of
// old files, be published with the tree.
func EnsureIgnore(d *disk.Disk, dir string, found bool) error {
	name := path.Join(dir, IgnoreFile)
	text, err := readIgnore(d, name)
	if err != nil || text == ignoreText || text == foundText {
		return err
	}
	if err := d.RemoveTree(name); err != nil {
		return err
	}
	text = ignoreText
	if found {
		text = foundText
	}
	if err := d.Put(name, []byte(text), false); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // another process was faster
}

// IsFound reports whether EnsureIgnore was called with found for the directory.
func IsFound(d *disk.Disk, dir string) (bool, error) {
	text, err := readIgnore(d, path.Join(dir, IgnoreFile))
	return text == foundText, err
}

// readIgnore returns the text of the file, or "" if it cannot be a text of this package.
func readIgnore(d *disk.Disk, name string) (string, error) {
	st, err := d.Look(name)
	if err != nil || st.Kind != change.File || st.Size > int64(len(foundText)) {
		return "", err
	}
	data, err := d.Read(name, st.Size)
	return string(data), disk.UnlessAbsent(err)
}
