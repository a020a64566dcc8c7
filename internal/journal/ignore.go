package journal

import (
	"errors"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
)

// IgnoreFile keeps version control away from everything beside it.
const IgnoreFile = ".gitignore"

const ignoreText = "*\n"

// EnsureIgnore keeps version control away from a directory. A file with any other text may have come with the tree. It
// would let backups and runs, with all that was in old files, be published with the tree.
func EnsureIgnore(d *disk.Disk, dir string) error {
	name := path.Join(dir, IgnoreFile)
	st, err := d.Look(name)
	if err == nil && st.Kind == change.File && st.Size == int64(len(ignoreText)) {
		var data []byte
		if data, err = d.Read(name, st.Size); err == nil && string(data) == ignoreText {
			return nil
		}
		err = disk.UnlessAbsent(err)
	}
	if err != nil {
		return err
	}
	if err := d.RemoveTree(name); err != nil {
		return err
	}
	if err := d.Put(name, []byte(ignoreText), false); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // another process was faster
}
