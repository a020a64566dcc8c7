package fsutil

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/spf13/afero"
)

// WriteFileAtomic gives a file new content in such a way that a reader sees the old content or the new, never a part or
// nothing, and that it is the one or the other after a crash, if Rename of the file system replaces a file as one step, as
// it does on every local one. It writes a file of another name in the same directory, syncs it, renames it and syncs the
// directory where that is possible. The file that was there is replaced, also if it is a symbolic link; its mode, owner and
// other names are not kept. The mode is perm, less the umask of the system. If an error is returned, the file is as it was,
// unless the error is about syncing the directory: then it is new but may be old again after a crash.
//
// It is meant for small files of state; changes to the files of a tree go through a [Stage].
func WriteFileAtomic(fsys afero.Fs, name string, data []byte, perm fs.FileMode) error {
	if isNil(fsys) {
		return rootPathError("write", name, ErrNoFs)
	}
	dir, _ := path.Split(name)
	temp := dir + ".millrace-" + rand.Text() + ".tmp"
	if err := writeSynced(fsys, temp, data, perm); err != nil {
		return err
	}
	if err := fsys.Rename(temp, name); err != nil {
		_ = fsys.Remove(temp) // the first error is the one to report
		return err
	}
	syncer, ok := fsys.(DirSyncer)
	if !ok {
		return nil
	}
	if err := syncer.SyncDir(path.Dir(name)); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// writeSynced makes a file that must not be there yet. It leaves nothing behind if it fails.
func writeSynced(fsys afero.Fs, name string, data []byte, perm fs.FileMode) error {
	file, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = fsys.Remove(name)
	}
	return err
}
