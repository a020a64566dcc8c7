package disk

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// Hash returns the hash and the size of a file's bytes. It reads at most size+1 bytes: some files never end, whatever
// their reported size.
func (d *Disk) Hash(name string, size int64) (change.Hash, int64, error) {
	f, err := d.OpenFound(name)
	if err != nil {
		return change.Hash{}, 0, err
	}
	defer f.Close()
	return d.HashOf(f, size)
}

// HashOf is Hash for an open file.
func (d *Disk) HashOf(f io.Reader, size int64) (change.Hash, int64, error) {
	return copyHashed(io.Discard, d.untilDone(io.LimitReader(f, size+1)))
}

// untilDone returns a reader that fails once Until is done, and counts the bytes it reads.
func (d *Disk) untilDone(from io.Reader) io.Reader {
	if d.Until == nil && d.Count == nil {
		return from
	}
	return doneReader{from, d.Until, d.Count}
}

type doneReader struct {
	io.Reader
	until context.Context
	count func(n int)
}

func (r doneReader) Read(p []byte) (int, error) {
	if r.until != nil && r.until.Err() != nil {
		return 0, context.Cause(r.until)
	}
	n, err := r.Reader.Read(p)
	if r.count != nil {
		r.count(n)
	}
	return n, err
}

// buffers are shared by all disks: a Disk lives only as long as a transaction, which may be about a few bytes.
var buffers sync.Pool // of *[]byte

// copyBuffer is the size of one read.
const copyBuffer = 128 << 10

// copyHashed copies all of from, and returns its hash and size.
func copyHashed(to io.Writer, from io.Reader) (change.Hash, int64, error) {
	kept, ok := buffers.Get().(*[]byte)
	if !ok {
		kept = new(make([]byte, copyBuffer))
	}
	defer buffers.Put(kept)
	h := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(h, to)}, struct{ io.Reader }{from}, *kept)
	if errors.Is(err, io.EOF) { // a file system has wrapped it
		err = nil
	}
	return change.Hash(h.Sum(nil)), n, err
}

// leastHole is the minimum number of zero bytes for a hole.
const leastHole = 64 << 10

// withHoles returns a writer that leaves holes for long runs of zero bytes if the file system has holes, like cp(1)
// with --sparse=always. A copy of a sparse file then needs no more space than the file.
func withHoles(f NewFile) io.Writer {
	if s, ok := f.(skipper); ok {
		return holes{f, s}
	}
	return f
}

// skipper is a NewFile that can skip n bytes, which then read as zero bytes.
type skipper interface{ Skip(n int) error }

type holes struct {
	NewFile
	skipper
}

func (h holes) Write(p []byte) (int, error) {
	if len(p) < leastHole || p[0] != 0 || !bytes.Equal(p[1:], p[:len(p)-1]) {
		return h.NewFile.Write(p)
	}
	if err := h.Skip(len(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// writeAll is Write for file systems that report no error after a short write.
func writeAll(to io.Writer, data []byte) error {
	n, err := to.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

// Wanted describes a new file, except its bytes.
type Wanted struct {
	Mode    fs.FileMode
	ModTime time.Time // zero: not set
	// Meta is the path of a file whose owner and attributes are copied, "" for none. Group is its group then, nil for any.
	Meta  string
	Group *uint32
	// Dir is its later directory, "" if it must not inherit from that.
	Dir string
	// Near is the file that it will replace, "" if no such file exists or it is on another mount.
	Near string
}

// Write makes a file, durable if d.Sync is set, and returns its state. warn is called for failures that are not fatal.
func (d *Disk) Write(name string, from io.Reader, want Wanted, warn func(error)) (change.State, error) {
	u, err := d.Start(name, from, want, warn)
	if err != nil {
		return change.State{}, err
	}
	return u.Finish()
}

// Overwrite overwrites the bytes of an existing file, syncs them if d.Sync is set, and returns their hash. A longer
// file is truncated last, so until then each byte is the old or the new byte at its offset.
func (d *Disk) Overwrite(name string, from io.Reader) (change.Hash, error) {
	f, err := d.FS.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return change.Hash{}, err
	}
	sum, n, err := copyHashed(f, d.untilDone(from))
	if err == nil {
		err = f.Truncate(n)
	}
	if err == nil && d.Sync {
		err = f.Sync()
	}
	return sum, cmp.Or(err, f.Close())
}

// Unfinished is a file that has all its bytes, but is not durable yet.
type Unfinished struct {
	d    *Disk
	f    NewFile
	name string
	want Wanted
	hash change.Hash
	warn func(error)
}

// Start is the first part of Write.
func (d *Disk) Start(name string, from io.Reader, want Wanted, warn func(error)) (*Unfinished, error) {
	f, err := d.Create(name, want.Near)
	if err != nil {
		return nil, err
	}
	sum, _, err := copyHashed(withHoles(f), d.untilDone(from))
	if err == nil {
		err = setAll(f, &want, warn)
	}
	if err != nil {
		_ = f.Close() // there is an earlier error
		return nil, err
	}
	if d.Sync {
		f.StartSync()
	}
	return &Unfinished{d, f, name, want, sum, warn}, nil
}

// Finish is the second part of Write.
func (u *Unfinished) Finish() (change.State, error) {
	d, name, want := u.d, u.name, &u.want
	var err error
	if d.Sync {
		err = u.f.Sync()
	}
	if err = cmp.Or(err, u.f.Close()); err != nil {
		return change.State{}, err
	}
	s, err := d.Look(name)
	if err == nil && !want.ModTime.IsZero() && !s.ModTime.Equal(want.ModTime) {
		// Closing sets the time on some file systems, others round it.
		if err = d.FS.Chtimes(name, want.ModTime, want.ModTime); err == nil {
			s, err = d.Look(name)
		}
	}
	if err == nil && s.Kind != change.File {
		err = &fs.PathError{Op: "write", Path: name, Err: names.ErrDrift}
	}
	s.Hash = u.hash
	if err == nil && s.Mode != want.Mode {
		u.warn(fmt.Errorf("mode is %v instead of %v: the file system does not keep it", s.Mode, want.Mode))
	}
	return s, err
}

// Drop closes a file that is no longer needed.
func (u *Unfinished) Drop() { _ = u.f.Close() } // its purpose has failed already

// setAll sets everything of a file except its bytes. The mode comes after the owner, because changing the owner clears
// bits of the mode. If the owner cannot be kept, want loses the setuid and setgid bits: they would lend the rights of
// another user.
func setAll(f NewFile, want *Wanted, warn func(error)) error {
	lost := func(err error) {
		want.Mode &^= fs.ModeSetuid | fs.ModeSetgid
		warn(err)
	}
	if want.Meta != "" {
		if err := Optional(butFlags(f.CopyMeta(want.Meta), warn), lost); err != nil {
			return err
		}
	}
	if want.Dir != "" {
		allowed, err := f.Inherit(want.Dir)
		if err = Optional(err, warn); err != nil {
			return err
		}
		want.Mode &= allowed
	}
	if want.Group != nil {
		if err := Optional(f.Chown(-1, int(*want.Group)), warn); err != nil {
			return err
		}
	}
	if err := f.Chmod(want.Mode); err != nil || want.ModTime.IsZero() {
		return err
	}
	return f.Chtimes(want.ModTime, want.ModTime)
}

// CopyMeta copies the owner and attributes of a file or directory to another, if the file system has them. warn is
// called for attributes that this user cannot set.
func (d *Disk) CopyMeta(from, to string, warn func(error)) error {
	return Optional(butFlags(copyMeta(d.FS, from, to), warn), warn)
}

// butFlags turns lost flags into a warning, and returns the rest of the error: the owner may be lost too, or the disk
// may fail.
func butFlags(err error, warn func(error)) error {
	if _, ok := errors.AsType[*rootfs.LostFlags](err); !ok {
		return err
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return butFlags(e.Unwrap(), warn)
	case interface{ Unwrap() []error }:
		var rest []error
		for _, part := range e.Unwrap() {
			rest = append(rest, butFlags(part, warn))
		}
		return errors.Join(rest...)
	}
	warn(err)
	return nil
}

// Inherit sets the access control list of a file or directory to the list for new entries of a directory, and returns
// the permission bits that the list allows.
func (d *Disk) Inherit(dir, name string) (fs.FileMode, error) { return inherit(d.FS, dir, name) }

// Optional turns an error into a warning if this user, or this file system, cannot change the owner of a file.
func Optional(err error, warn func(error)) error {
	if err != nil && (IsUnsupported(err) || errors.Is(err, fs.ErrPermission)) {
		warn(fmt.Errorf("owner or attributes are not kept: %w", err))
		return nil
	}
	return err
}
