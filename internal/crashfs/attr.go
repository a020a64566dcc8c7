package crashfs

import (
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// change changes an inode in place.
func (d *disk) change(path string, follow bool, do func(c *content)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, err := d.resolve(path, follow)
	if err != nil {
		return err
	}
	if at.inode == nowhere {
		return syscall.ENOENT
	}
	d.tick()
	c := &d.inodes[at.inode].now
	do(c)
	c.ctime = d.now
	return nil
}

// Chmod changes permission bits.
func (f *Fs) Chmod(path string, mode os.FileMode) error {
	err := f.begin("chmod", path, true)
	if err == nil {
		err = f.change(path, true, func(c *content) { c.mode = c.mode.Type() | mode&settable })
	}
	return pathError("chmod", path, err)
}

// Chown only checks that the file exists: there is one owner.
func (f *Fs) Chown(path string, _, _ int) error {
	err := f.begin("chown", path, true)
	if err == nil {
		err = f.change(path, true, func(*content) {})
	}
	return pathError("chown", path, err)
}

// Chtimes changes the modification time, unless mtime is the zero time.
func (f *Fs) Chtimes(path string, _, mtime time.Time) error {
	err := f.begin("chtimes", path, true)
	if err == nil {
		err = f.change(path, true, func(c *content) {
			if !mtime.IsZero() {
				c.mtime = mtime
			}
		})
	}
	return pathError("chtimes", path, err)
}

// LinkTimes changes the modification time of a link, not of its target.
func (f *Fs) LinkTimes(path string, mtime int64) error {
	err := f.begin("chtimes", path, true)
	if err == nil {
		err = f.change(path, false, func(c *content) { c.mtime = time.Unix(0, mtime).UTC() })
	}
	return pathError("chtimes", path, err)
}

// SetAttr changes the string that represents owner and attributes.
func (f *Fs) SetAttr(path, attr string) error {
	return pathError("setattr", path, f.change(path, false, func(c *content) { c.attr = attr }))
}

// Attr returns the owner and attributes of a file, "" if the file is missing.
func (f *Fs) Attr(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(path, false)
	if err != nil || at.inode == nowhere {
		return ""
	}
	return f.inodes[at.inode].now.attr
}

// Stat describes the file that a path leads to.
func (f *Fs) Stat(path string) (os.FileInfo, error) { return f.stat("stat", path, true) }

// LstatIfPossible describes the file at a path, without following a link.
func (f *Fs) LstatIfPossible(path string) (os.FileInfo, bool, error) {
	i, err := f.stat("lstat", path, false)
	return i, true, err
}

func (f *Fs) stat(op, name string, follow bool) (fs.FileInfo, error) {
	if err := f.begin(op, name, false); err != nil {
		return nil, pathError(op, name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(name, follow)
	if err == nil && at.inode == nowhere {
		err = syscall.ENOENT
	}
	if err != nil {
		return nil, pathError(op, name, err)
	}
	return f.info(path.Base(name), at.inode), nil
}
