package commit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// open opens a regular file for reading, and nothing else.
func (d *disk) open(name string) (fsutil.ReadFile, error) {
	if d.fast != nil {
		if f, err := d.fast.OpenRegular(name); !errors.Is(err, errors.ErrUnsupported) {
			return f, err
		}
	}
	f, err := d.fs.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: fsutil.ErrNotRegular}
	}
	if err != nil {
		_ = f.Close() // nothing was read from it
		return nil, err
	}
	return f, nil
}

// hash returns the hash and the size of a file's bytes. Of a file that has more than that many it reads one byte more: some
// never end, whatever size they say they have.
func (d *disk) hash(name string, size int64) (fsutil.Hash, int64, error) {
	f, err := d.open(name)
	if err != nil {
		return fsutil.Hash{}, 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := d.pour(io.Discard, h, io.LimitReader(f, size+1))
	return fsutil.Hash(h.Sum(nil)), n, err
}

// What one read takes. From a file in memory a large one gains nothing, and most such files are small.
const copyBuffer, copyBufferMemory = 128 << 10, 16 << 10

// pour copies all of from and hashes it on the way. It returns how many bytes that were.
func (d *disk) pour(to io.Writer, h hash.Hash, from io.Reader) (int64, error) {
	kept, ok := d.buffers.Get().(*[]byte)
	if !ok {
		size := copyBuffer
		if d.memory {
			size = copyBufferMemory
		}
		kept = new(make([]byte, size))
	}
	defer d.buffers.Put(kept)
	buf := *kept
	total := int64(0)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			h.Write(buf[:n])
			if _, werr := to.Write(buf[:n]); werr != nil {
				return total, werr
			}
			total += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// wanted is what a new file is to be beside its bytes.
type wanted struct {
	mode  fs.FileMode
	mtime time.Time // zero: as it comes
	// meta is the path of a file that gives owner and attributes, "" for none; group is the group then, nil for any.
	meta  string
	group *uint32
	// dir is the directory that it will be in, "" if what it would inherit there is not for it.
	dir string
	// near is the file that it will take the place of, "" if it is none or on another mount.
	near string
}

// write makes a file, durable if that is asked for, and returns what it is then. warn is called with what may fail.
func (d *disk) write(name string, from io.Reader, want wanted, warn func(error)) (fsutil.State, error) {
	u, err := d.start(name, from, want, warn)
	if err != nil {
		return fsutil.State{}, err
	}
	return u.finish()
}

// unfinished is a file that has all its bytes, but is not durable yet.
type unfinished struct {
	d    *disk
	f    fsutil.NewFile
	name string
	want wanted
	hash fsutil.Hash
	warn func(error)
}

// start is the first part of write.
func (d *disk) start(name string, from io.Reader, want wanted, warn func(error)) (*unfinished, error) {
	f, err := d.create(name, want.near)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	_, err = d.pour(f, h, from)
	if err == nil {
		err = d.dress(f, &want, warn)
	}
	if err != nil {
		_ = f.Close() // it has failed already
		return nil, err
	}
	if d.sync {
		f.StartSync()
	}
	return &unfinished{d, f, name, want, fsutil.Hash(h.Sum(nil)), warn}, nil
}

// finish is the second part of write.
func (u *unfinished) finish() (fsutil.State, error) {
	d, name, want := u.d, u.name, &u.want
	var err error
	if d.sync {
		err = u.f.Sync()
	}
	if cerr := u.f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fsutil.State{}, err
	}
	s, err := d.lstat(name)
	if err == nil && !want.mtime.IsZero() && !s.ModTime.Equal(want.mtime) {
		// Closing has set the time on some file systems, others round it.
		if err = d.fs.Chtimes(name, want.mtime, want.mtime); err == nil {
			s, err = d.lstat(name)
		}
	}
	if err == nil && s.Kind != fsutil.File {
		err = &fs.PathError{Op: "write", Path: name, Err: fsutil.ErrDrift}
	}
	s.Hash = u.hash
	if err == nil && s.Mode != want.mode {
		u.warn(fmt.Errorf("mode is %v instead of %v: the file system does not keep it", s.Mode, want.mode))
	}
	return s, err
}

// create makes an empty file that nobody else can read yet.
func (d *disk) create(name, near string) (fsutil.NewFile, error) {
	if d.fast != nil {
		return d.fast.CreateNear(near, name, 0o600)
	}
	f, err := d.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if f, ok := f.(fsutil.NewFile); ok {
		return f, nil
	}
	return namedFile{f, d, name}, nil
}

// namedFile is a new file that is dressed by its name.
type namedFile struct {
	afero.File
	d    *disk
	name string
}

func (f namedFile) StartSync()                 {}
func (f namedFile) CopyMeta(from string) error { return f.d.metaCopy(from, f.name) }
func (f namedFile) Inherit(dir string) (fs.FileMode, error) {
	return f.d.inherit(dir, f.name)
}
func (f namedFile) Chown(uid, gid int) error             { return f.d.fs.Chown(f.name, uid, gid) }
func (f namedFile) Chmod(mode fs.FileMode) error         { return f.d.fs.Chmod(f.name, mode) }
func (f namedFile) Chtimes(atime, mtime time.Time) error { return f.d.fs.Chtimes(f.name, atime, mtime) }

// dress gives a file everything but bytes. The mode comes after the owner, for changing that clears bits of it. If the
// owner cannot be kept, want loses the bits that lend out his rights: they would lend those of somebody else.
func (d *disk) dress(f fsutil.NewFile, want *wanted, warn func(error)) error {
	lost := func(err error) {
		want.mode &^= fs.ModeSetuid | fs.ModeSetgid
		warn(err)
	}
	if want.meta != "" {
		if err := d.optional(f.CopyMeta(want.meta), lost); err != nil {
			return err
		}
	}
	if want.dir != "" {
		allowed, err := f.Inherit(want.dir)
		if err = d.optional(err, warn); err != nil {
			return err
		}
		want.mode &= allowed
	}
	if want.group != nil {
		if err := d.optional(f.Chown(-1, int(*want.group)), warn); err != nil {
			return err
		}
	}
	if err := f.Chmod(want.mode); err != nil {
		return err
	}
	if want.mtime.IsZero() {
		return nil
	}
	return f.Chtimes(want.mtime, want.mtime)
}

func (d *disk) copyMeta(from, to string, warn func(error)) error {
	if from == "" {
		return nil
	}
	return d.optional(d.metaCopy(from, to), warn)
}

// metaCopy gives a file or directory owner and attributes of another where the file system has them.
func (d *disk) metaCopy(from, to string) error {
	if copier, ok := d.fs.(fsutil.MetaCopier); ok {
		return copier.CopyMeta(from, to)
	}
	return nil
}

// inherit gives a file or directory the access control list that new ones in a directory have, where there are such, and returns
// the permission bits that it allows.
func (d *disk) inherit(dir, name string) (fs.FileMode, error) {
	if i, ok := d.fs.(fsutil.Inheriter); ok {
		return i.Inherit(dir, name)
	}
	return fsutil.PermBits, nil
}
