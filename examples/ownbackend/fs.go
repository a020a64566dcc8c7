package ownbackend

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/spf13/afero"
	bolt "go.etcd.io/bbolt"
)

// FS is a file system whose files are rows of a database. Only one process has the database open.
type FS struct {
	db     *bolt.DB
	locked chan struct{}
}

// Open opens the database in a file of the system, and makes it if it is absent. It waits for another process for at
// most a second.
func Open(file string) (*FS, error) {
	db, err := bolt.Open(file, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, table := range []string{"names", "nodes"} {
			if _, err := tx.CreateBucketIfNotExists([]byte(table)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &FS{db, make(chan struct{}, 1)}, nil
}

// Close closes the database.
func (f *FS) Close() error { return f.db.Close() }

// Name implements [afero.Fs].
func (f *FS) Name() string { return "ownbackend" }

// view reads the tables, and update writes them. Their errors name the call and the file.
func (f *FS) view(op, name string, do func(t tables) error) error {
	return pathError(op, name, f.db.View(inTables(do)))
}

func (f *FS) update(op, name string, do func(t tables) error) error {
	return pathError(op, name, f.db.Update(inTables(do)))
}

func inTables(do func(t tables) error) func(tx *bolt.Tx) error {
	return func(tx *bolt.Tx) error { return do(tables{tx.Bucket([]byte("names")), tx.Bucket([]byte("nodes"))}) }
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Create implements [afero.Fs].
func (f *FS) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open implements [afero.Fs].
func (f *FS) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// Mkdir implements [afero.Fs].
func (f *FS) Mkdir(name string, perm os.FileMode) error {
	return f.update("mkdir", name, func(t tables) error {
		_, err := t.add(clean(name), fs.ModeDir|perm.Perm())
		return err
	})
}

// MkdirAll implements [afero.Fs].
func (f *FS) MkdirAll(name string, perm os.FileMode) error {
	return f.update("mkdir", name, func(t tables) error { return mkdirAll(t, clean(name), perm) })
}

func mkdirAll(t tables, name string, perm os.FileMode) error {
	_, n, err := t.find(name)
	if err == nil {
		if !n.mode.IsDir() {
			return syscall.ENOTDIR
		}
		return nil
	}
	if err := mkdirAll(t, parentOf(name), perm); err != nil {
		return err
	}
	_, err = t.add(name, fs.ModeDir|perm.Perm())
	return err
}

// Remove implements [afero.Fs].
func (f *FS) Remove(name string) error {
	return f.update("remove", name, func(t tables) error { return t.remove(clean(name)) })
}

// RemoveAll implements [afero.Fs].
func (f *FS) RemoveAll(name string) error {
	return f.update("remove", name, func(t tables) error {
		dir := clean(name)
		all := t.below(dir)
		for i := len(all) - 1; i >= 0; i-- { // the content of a directory is removed before the directory
			if err := t.remove(all[i]); err != nil {
				return err
			}
		}
		if _, _, err := t.find(dir); err != nil || dir == "" {
			return nil
		}
		return t.remove(dir)
	})
}

// Rename implements [afero.Fs].
func (f *FS) Rename(oldname, newname string) error {
	return f.update("rename", oldname, func(t tables) error { return t.rename(clean(oldname), clean(newname)) })
}

// Stat implements [afero.Fs].
func (f *FS) Stat(name string) (i os.FileInfo, err error) {
	err = f.view("stat", name, func(t tables) error {
		_, n, err := t.find(clean(name))
		i = infoOf(clean(name), n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Chmod implements [afero.Fs].
func (f *FS) Chmod(name string, mode os.FileMode) error {
	return f.change("chmod", name, func(n *node) { n.mode = n.mode.Type() | mode.Perm() })
}

// Chtimes implements [afero.Fs]. The database has no time of access.
func (f *FS) Chtimes(name string, _, mtime time.Time) error {
	return f.change("chtimes", name, func(n *node) { n.time = mtime })
}

// Chown implements [afero.Fs]. The database has no owners, so Chown has no effect.
func (f *FS) Chown(name string, _, _ int) error { return f.change("chown", name, func(*node) {}) }

// change changes the row of a name.
func (f *FS) change(op, name string, do func(n *node)) error {
	return f.update(op, name, func(t tables) error {
		id, n, err := t.find(clean(name))
		if err != nil || id == nil {
			return err
		}
		do(&n)
		return t.nodes.Put(id, n.row())
	})
}

// info is the [fs.FileInfo] of a node.
type info struct {
	name string
	size int64
	node
}

func infoOf(name string, n node) info {
	i := info{path.Base("/" + name), int64(len(n.data)), n}
	i.data = nil // the bytes are only valid in the transaction
	return i
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.time }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
