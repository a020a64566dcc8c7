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
	if err := d.bringUp(path.Dir(to)); err != nil {
		return err
	}
	return d.fs.Rename(from, to)
}

// bringUp is for file systems made of layers, such as an afero.CopyOnWriteFs. Where the upper layer lacks a directory that is
// seen in the lower one, a rename into it fails, or it is made with another mode. They make it when a file in it is about to
// be written, also if that then fails because there is no such file; bringUp does so and gives it the mode that was seen.
func (d *disk) bringUp(dir string) error {
	if d.exchange != nil || d.noReplace != nil || d.fast != nil {
		return nil // not made of layers
	}
	var dirs []string
	var modes []fs.FileMode
	for at := dir; at != "."; at = path.Dir(at) {
		s, err := d.lstat(at)
		if err != nil || s.Kind != fsutil.Dir {
			return err // what is done there next tells of anything else
		}
		dirs, modes = append(dirs, at), append(modes, s.Mode)
	}
	f, err := d.fs.OpenFile(path.Join(dir, rand.Text()), os.O_WRONLY, 0)
	if err == nil {
		return f.Close() // nobody has a file of such a name
	}
	if !isAbsent(err) {
		return err
	}
	for i, at := range dirs {
		s, err := d.lstat(at)
		if err == nil && s.Kind == fsutil.Dir && s.Mode != modes[i] {
			err = d.fs.Chmod(at, modes[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
