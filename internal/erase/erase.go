// Package erase removes trees that may have been made by a stranger: whatever is in them, however deep they are.
package erase

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"syscall"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// deep is how long a path below the tree may get, in bytes. What lies deeper is brought up first, for no system takes a path
// longer than some thousand bytes, but directories can be made one in the other without end. Short paths are also found faster.
const deep = 256

// Tree removes a name and all below it, following no symbolic link. That it is not there is no error. The fast path may be nil.
//
// If it fails, other things in the tree may be gone, and it can be called again.
func Tree(fsys afero.Fs, fast fsutil.FastPath, name string) error {
	e := &eraser{fs: fsys, fast: fast, top: name}
	return e.tree(name)
}

type eraser struct {
	fs    afero.Fs
	fast  fsutil.FastPath
	top   string
	moved int // how many directories were brought up
}

func (e *eraser) tree(name string) error {
	if e.fast != nil && e.fast.Remove(name) == nil {
		return nil // most are files
	}
	info, err := e.lstat(name)
	if err != nil {
		return unlessAbsent(err)
	}
	if !info.IsDir() {
		return e.remove(name)
	}
	if mode := info.Mode(); mode&0o700 != 0o700 {
		if err := e.fs.Chmod(name, mode.Perm()|0o700); err != nil {
			return err
		}
	}
	if len(name) > len(e.top)+deep {
		return e.bringUp(name)
	}
	for {
		before := e.moved
		names, err := e.names(name)
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := e.tree(path.Join(name, n)); err != nil {
				return err
			}
		}
		if name != e.top || e.moved == before {
			return e.remove(name)
		}
		// What was brought up meanwhile is here now.
	}
}

// bringUp moves a directory to the top of the tree, where it is found later.
func (e *eraser) bringUp(name string) error {
	for {
		e.moved++
		to := path.Join(e.top, "deep-"+strconv.Itoa(e.moved))
		if _, err := e.lstat(to); err == nil {
			continue
		}
		return e.fs.Rename(name, to)
	}
}

func (e *eraser) lstat(name string) (fs.FileInfo, error) {
	if l, ok := e.fs.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(name)
		return info, err
	}
	return e.fs.Stat(name)
}

func (e *eraser) names(dir string) ([]string, error) {
	f, err := e.fs.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// remove removes a file, a link or an empty directory.
func (e *eraser) remove(name string) error {
	err := e.fs.Remove(name)
	if err == nil {
		return nil
	}
	// Where nothing can be written, that is said before anybody looks whether it is there.
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		if _, lerr := e.lstat(name); lerr != nil && unlessAbsent(lerr) == nil {
			return nil
		}
	}
	return unlessAbsent(err)
}

// unlessAbsent returns the error unless it says that there is nothing of that name.
func unlessAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsutil.ErrNotDir) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}
