package rootfs

import (
	"io"
	"io/fs"
	"os"
	"time"
)

// Created is a file that [FS.CreateNew] has made. It is for one goroutine.
type Created interface {
	io.WriteCloser
	// Stat describes the file as it is now.
	Stat() (fs.FileInfo, error)
	// Chmod sets the permission bits.
	Chmod(mode fs.FileMode) error
	// Chtimes sets the times; a zero time leaves the present time.
	Chtimes(atime, mtime time.Time) error
}

// CreateNew makes an empty file, and fails if the name exists already. The process's umask applies to perm, of
// which the nine lowest bits count. In a directory of [FS.Holding] on Linux, making the file is a single system call.
func (r *FS) CreateNew(name string, perm fs.FileMode) (Created, error) {
	if f, err := r.createFast(name, perm); err != errSlow {
		return f, err
	}
	f, err := r.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm.Perm())
	if err != nil {
		return nil, err
	}
	return namedFile{f.(*rootFile), r}, nil
}

// namedFile is a Created whose mode and times are set by its name.
type namedFile struct {
	*rootFile
	r *FS
}

func (f namedFile) Chmod(mode fs.FileMode) error         { return f.r.Chmod(f.name, mode) }
func (f namedFile) Chtimes(atime, mtime time.Time) error { return f.r.Chtimes(f.name, atime, mtime) }
