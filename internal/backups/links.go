package backups

import (
	"fmt"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
)

// LinkWarnings returns a warning for each edited file that has other hard links, which will keep the old content. Links
// in the state directory do not count: the backup of a moved file is a link to it.
func LinkWarnings(fsys afero.Fs, stateDir string, changes []change.Change) []string {
	var warnings []string
	var own map[inode]uint64
	for _, c := range changes {
		id := c.Old.ID
		if c.Kind != change.Modified || c.Old.Kind != change.File || id.Nlink < 2 || c.Old.Hash == c.New.Hash {
			continue
		}
		if own == nil {
			own = links(fsys, stateDir)
		}
		if n := id.Nlink - min(own[inode{id.Dev, id.Ino}], id.Nlink-1); n > 1 {
			warnings = append(warnings,
				fmt.Sprintf("%s has %d hard links: its other names keep the old content", c.Path, n))
		}
	}
	return warnings
}

// inode is the part of an identity that distinguishes files.
type inode struct{ dev, ino uint64 }

// links counts the links of files in the state directory. Unreadable files are not counted: a superfluous warning does
// no harm.
func links(fsys afero.Fs, stateDir string) map[inode]uint64 {
	found := make(map[inode]uint64)
	ident, ok := fsys.(capability.Identifier)
	if !ok {
		return found
	}
	_ = afero.Walk(fsys, stateDir, func(_ string, info fs.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			if id, ok := ident.IdentityOf(info); ok && id.Nlink > 1 {
				found[inode{id.Dev, id.Ino}]++
			}
		}
		return nil
	})
	return found
}
