package commit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/erase"
)

// disk is what the protocol does with a file system, by whatever means that one has. What it can do is found out by
// probe; before that, nothing but the methods of afero.Fs is used.
type disk struct {
	fs      afero.Fs
	memory  bool
	sync    bool // fsync is asked for
	workers int

	link      fsutil.Linker
	exchange  fsutil.Exchanger
	noReplace fsutil.NoReplacer
	dirSync   fsutil.DirSyncer

	fast    fsutil.FastPath // nil if there is none
	buffers sync.Pool       // of *[]byte
}

// lstat returns what stands at the name, without the hash of a file. What is not there, or below a file, is Absent.
func (d *disk) lstat(name string) (fsutil.State, error) {
	if d.fast != nil {
		return d.fast.Look(name)
	}
	var info fs.FileInfo
	var err error
	if l, ok := d.fs.(afero.Lstater); ok && name != "." {
		info, _, err = l.LstatIfPossible(name)
	} else {
		info, err = d.fs.Stat(name)
	}
	if isAbsent(err) {
		return fsutil.State{}, nil
	}
	if err != nil {
		return fsutil.State{}, err
	}
	s := d.state(info)
	if s.Kind != fsutil.Symlink {
		return s, nil
	}
	reader, ok := d.fs.(afero.LinkReader)
	if !ok {
		return s, &fs.PathError{Op: "readlink", Path: name, Err: afero.ErrNoReadlink}
	}
	s.Target, err = reader.ReadlinkIfPossible(name)
	if isAbsent(err) {
		return fsutil.State{}, nil // removed in between
	}
	s.Target = filepath.ToSlash(s.Target)
	return s, err
}

func (d *disk) state(info fs.FileInfo) fsutil.State {
	s := fsutil.State{Kind: fsutil.KindOf(info.Mode()), Mode: info.Mode() & fsutil.PermBits, ModTime: info.ModTime()}
	if s.Kind == fsutil.File {
		s.Size = info.Size()
	}
	if ident, ok := d.fs.(fsutil.Identifier); ok {
		s.ID, _ = ident.IdentityOf(info)
	}
	return s
}

// isAbsent reports whether the error says that there is nothing of that name.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsutil.ErrNotDir) || errors.Is(err, syscall.ENOTDIR)
}

// isUnsupported reports whether the error says that the file system, or this mount of it, does not do such things, or not
// to this file: then there is another way. EIO and ENOSPC are no such errors.
func isUnsupported(err error) bool {
	if isLinkError(err) {
		return true
	}
	for _, e := range []error{errors.ErrUnsupported, syscall.EINVAL, syscall.EPERM, afero.ErrNoSymlink} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// isLinkError reports whether a link failed for what it is and not for the disk.
func isLinkError(err error) bool {
	return errors.Is(err, syscall.EMLINK) || isCrossDevice(err)
}

func isCrossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }

// optional makes a warning of an error that says that this user, or this file system, cannot give a file away.
func (d *disk) optional(err error, warn func(error)) error {
	if err != nil && (isUnsupported(err) || errors.Is(err, fs.ErrPermission)) {
		warn(fmt.Errorf("owner or attributes are not kept: %w", err))
		return nil
	}
	return err
}

// symlink makes a symbolic link and returns what it is then.
func (d *disk) symlink(name string, want fsutil.State) (fsutil.State, error) {
	linker, ok := d.fs.(afero.Linker)
	if !ok {
		return fsutil.State{}, &fs.PathError{Op: "symlink", Path: name, Err: afero.ErrNoSymlink}
	}
	if err := linker.SymlinkIfPossible(want.Target, name); err != nil {
		return fsutil.State{}, err
	}
	if err := d.linkTime(name, want.ModTime); err != nil {
		return fsutil.State{}, err
	}
	s, err := d.lstat(name)
	if err == nil && (s.Kind != fsutil.Symlink || s.Target != filepath.ToSlash(want.Target)) {
		err = &fs.PathError{Op: "symlink", Path: name, Err: fsutil.ErrDrift}
	}
	return s, err
}

// linkTime sets the time of a symbolic link where that can be done.
func (d *disk) linkTime(name string, t time.Time) error {
	timer, ok := d.fs.(fsutil.LinkTimer)
	if !ok || t.IsZero() {
		return nil
	}
	if err := timer.LinkTimes(name, t.UnixNano()); err != nil && !isUnsupported(err) {
		return err
	}
	return nil
}

// names returns the names in a directory.
func (d *disk) names(dir string) ([]string, error) {
	f, err := d.fs.Open(dir)
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

// syncDir makes the names in a directory durable.
func (d *disk) syncDir(dir string) error {
	if !d.sync || d.dirSync == nil {
		return nil
	}
	if d.fast != nil {
		if err := d.fast.SyncDir(dir); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return d.dirSync.SyncDir(dir)
}

// syncFile makes mode and times of a file durable. Those of one that may not be read cannot be: warn is called with that.
func (d *disk) syncFile(name string, warn func(error)) error {
	if !d.sync || d.dirSync == nil {
		return nil // then they are not more durable than their name; and Windows wants a file open for writing
	}
	f, err := d.fs.Open(name)
	if err == nil {
		err = f.Sync()
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		warn(fmt.Errorf("its mode and times are not safe from a power cut yet: %w", err))
		return nil
	}
	return err
}

// removeTree removes a name and all below it, following no link. It is for the state directory only.
func (d *disk) removeTree(name string) error { return erase.Tree(d.fs, d.fast, name) }

// remove removes a name; that it is gone already is no error.
func (d *disk) remove(name string) error {
	remove := d.fs.Remove
	if d.fast != nil {
		remove = d.fast.Remove
	}
	err := remove(name)
	if err == nil || isAbsent(err) {
		return nil
	}
	// Where nothing can be written, that is said before anybody looks whether it is there.
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		if s, lerr := d.lstat(name); lerr == nil && s.Kind == fsutil.Absent {
			return nil
		}
	}
	return err
}
