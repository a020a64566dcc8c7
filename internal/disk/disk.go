package disk

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
)

// Disk is a file system with the operations of commits and backups. It is as safe for concurrent use as a System.
type Disk struct {
	System
	FS afero.Fs
	// Memory means that the file system ends with the process.
	Memory bool
	// Sync means that files and names must be made durable.
	Sync bool
	// Can are the abilities found by [Disk.Probe]. Before that, only the methods of afero.Fs are used.
	Can Abilities
	// Until stops the copying and hashing of a file when it is done, with its cause; nil is never done. It is changed only
	// while no other operation runs.
	Until context.Context
	// Count is called with the number of bytes read from a file, while it is hashed or copied, from several goroutines at
	// a time. Nil means no calls. It may be changed when Until may.
	Count func(n int)

	links linkTimes
}

// Open returns the operations on a file system returned by [fsutil.Raise]. It holds nothing open until Hold is called.
func Open(fsys afero.Fs) *Disk {
	return &Disk{System: systemOf(fsys), FS: fsys, Memory: InMemory(fsys)}
}

// InMemory reports whether a file system ends with the process.
func InMemory(fsys afero.Fs) bool {
	v, ok := fsys.(capability.Volatile)
	if !ok {
		_, ok := fsys.(*afero.MemMapFs)
		return ok
	}
	return v.InMemory()
}

// Names returns the names in a directory, in order.
func (d *Disk) Names(dir string) ([]string, error) {
	f, err := d.FS.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.Sort(names)
	return names, err
}

// Above returns the path and the directories above it, without the top, from the top down.
func Above(name string) []string {
	if name == "." {
		return nil
	}
	var all []string
	for i := range len(name) {
		if i > 0 && name[i] == '/' {
			all = append(all, name[:i])
		}
	}
	return append(all, name)
}

// Blocked returns the first part of the path's directory that is not a directory, and its kind; "" if all are
// directories. A symbolic link there blocks the path.
func (d *Disk) Blocked(name string) (string, change.Kind, error) {
	for _, dir := range Above(path.Dir(name)) {
		if st, err := d.Look(dir); err != nil || st.Kind != change.Dir {
			return dir, st.Kind, err
		}
	}
	return "", change.Dir, nil
}

// Reach returns the state of the path, Absent if the path cannot be reached through directories.
func (d *Disk) Reach(name string) (change.State, error) {
	if dir, _, err := d.Blocked(name); err != nil || dir != "" {
		return change.State{}, err
	}
	return d.Look(name)
}

// Remove removes a file, a link or an empty directory. A missing name is not an error.
func (d *Disk) Remove(name string) error {
	err := d.System.Remove(name)
	// If the user cannot write there, some systems report that before a missing name.
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		if s, lerr := d.Look(name); lerr == nil && s.Kind == change.Absent {
			return nil
		}
	}
	return UnlessAbsent(err)
}

// Put writes a small new file of millrace, which must not exist yet. A durable file is synced if d.Sync is set.
func (d *Disk) Put(name string, data []byte, durable bool) error {
	f, err := d.FS.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = writeAll(f, data)
	if err == nil && durable && d.Sync {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// OpenFound opens a regular file for reading. It refuses anything else that another program may have put there.
func (d *Disk) OpenFound(name string) (capability.ReadFile, error) {
	return handle.OpenFile(d.FS, name)
}

// Read reads at most most bytes of a regular file that other programs may have changed.
func (d *Disk) Read(name string, most int64) ([]byte, error) {
	f, err := d.OpenFound(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(max(info.Size(), 0), most)) + bytes.MinRead) // otherwise a large file would be copied again and again
	_, err = b.ReadFrom(io.LimitReader(f, most))
	return b.Bytes(), err
}

// Symlink makes a symbolic link and returns its state.
func (d *Disk) Symlink(name string, want change.State) (change.State, error) {
	linker, ok := d.FS.(afero.Linker)
	if !ok {
		return change.State{}, &fs.PathError{Op: "symlink", Path: name, Err: afero.ErrNoSymlink}
	}
	err := linker.SymlinkIfPossible(want.Target, name)
	if err == nil {
		err = d.LinkTime(name, want.ModTime)
	}
	if err != nil {
		return change.State{}, err
	}
	s, err := d.Look(name)
	if err == nil && (s.Kind != change.Symlink || s.Target != filepath.ToSlash(want.Target)) {
		err = &fs.PathError{Op: "symlink", Path: name, Err: names.ErrDrift}
	}
	return s, err
}

// syncsDirs reports whether names must be made durable and can be.
func (d *Disk) syncsDirs() bool { return d.Sync && d.Can.SyncDir }

// SyncDir makes the names in directories durable, one after the other, if d.Sync is set and the file system can do it.
func (d *Disk) SyncDir(dirs ...string) error {
	for _, dir := range dirs {
		if !d.syncsDirs() {
			return nil
		}
		if err := d.System.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// SyncReached is SyncDir for a path that other programs may have changed. If it no longer leads to a directory, it does
// nothing.
func (d *Disk) SyncReached(dir string) error {
	if s, err := d.Reach(dir); err != nil || s.Kind != change.Dir {
		return err
	}
	return d.SyncDir(dir)
}

// SyncAnyDir is SyncDir for a file system that was not probed.
func (d *Disk) SyncAnyDir(dir string) error {
	if !d.Sync {
		return nil
	}
	if err := d.System.SyncDir(dir); !IsUnsupported(err) {
		return err
	}
	return nil
}

// SyncFile makes mode and times of a file durable. A file that may not be read cannot be synced: warn receives that
// error.
func (d *Disk) SyncFile(name string, warn func(error)) error {
	if !d.syncsDirs() {
		return nil // mode and times are then no more durable than the name; and Windows needs a file open for writing
	}
	f, err := d.FS.Open(name)
	if err == nil {
		err = cmp.Or(f.Sync(), f.Close())
	}
	if errors.Is(err, fs.ErrPermission) {
		warn(fmt.Errorf("its mode and times are not safe from a power cut yet: %w", err))
		return nil
	}
	return err
}

// MoveIn renames a file of millrace to a name in the tree.
//
// File systems can consist of layers, such as an afero.CopyOnWriteFs. If a directory is only in the lower layer, a
// rename into it fails, or the directory is made with another mode; see [Disk.BringUp].
func (d *Disk) MoveIn(from, to string) error {
	if err := d.BringUp(path.Dir(to)); err != nil {
		return err
	}
	return d.FS.Rename(from, to)
}

// BringUp makes sure that a directory is in the upper layer. A layered file system copies a directory up when a file in
// it is opened for writing, even if that file is missing. BringUp opens such a file and restores the modes of the
// directories.
func (d *Disk) BringUp(dir string) error {
	if d.Can.Exchange || d.Can.NoReplace || !d.isPlain() {
		return nil
	}
	var dirs []string
	var modes []fs.FileMode
	for at := dir; at != "."; at = path.Dir(at) {
		s, err := d.Look(at)
		if err != nil || s.Kind != change.Dir {
			return err // the next operation there reports any other kind
		}
		dirs, modes = append(dirs, at), append(modes, s.Mode)
	}
	f, err := d.FS.OpenFile(path.Join(dir, rand.Text()), os.O_WRONLY, 0)
	if err == nil {
		return f.Close() // unreachable in practice: no program has a file with such a name
	}
	if !IsAbsent(err) {
		return err
	}
	for i, at := range dirs {
		s, err := d.Look(at)
		if err == nil && s.Kind == change.Dir && s.Mode != modes[i] {
			err = d.FS.Chmod(at, modes[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
