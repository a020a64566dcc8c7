package commit

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path"

	"github.com/millrace-go/millrace/fsutil"
)

// rename gives a file of ours a name in the tree.
func (d *disk) rename(from, to string) error {
	d.bringUp(path.Dir(to))
	return d.fs.Rename(from, to)
}

// bringUp is for file systems made of layers, such as an afero.CopyOnWriteFs. Where the upper layer lacks a directory that is
// seen in the lower one, a rename into it fails, or it is made with another mode. They make it when a file in it is about to
// be written, also if that then fails because there is no such file; bringUp does so and gives it the mode that was seen.
// If anything fails, what is written there next will tell.
func (d *disk) bringUp(dir string) {
	if d.exchange != nil || d.noReplace != nil || d.fast != nil {
		return // not made of layers
	}
	modes := make(map[string]fs.FileMode)
	for at := dir; at != "."; at = path.Dir(at) {
		s, err := d.lstat(at)
		if err != nil || s.Kind != fsutil.Dir {
			return
		}
		modes[at] = s.Mode
	}
	if f, err := d.fs.OpenFile(path.Join(dir, rand.Text()), os.O_WRONLY, 0); err == nil {
		_ = f.Close() // nobody has a file of such a name
	}
	for at, mode := range modes {
		if s, err := d.lstat(at); err == nil && s.Kind == fsutil.Dir && s.Mode != mode {
			_ = d.fs.Chmod(at, mode)
		}
	}
}
