package fsutil

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// rootDir is an open directory of Linux. It lists and opens by system calls on the handle, without an *os.File for each
// file and without the lstat of each entry that listing through os.Root costs.
type rootDir struct {
	fs   *RootFs
	name string
	file *os.File
	conn syscall.RawConn // keeps the handle from being closed, and used again, under a call
	list sync.Mutex      // a directory handle has one reading position
}

// OpenDir implements [DirOpener]. Entries of its listings know what they are without a further call, except on file
// systems that do not say.
func (r *RootFs) OpenDir(name string) (DirHandle, error) {
	clean, err := r.name(name)
	if err != nil {
		return nil, rootPathError("open", name, err)
	}
	file, err := r.openDirectory(clean)
	if err != nil {
		return nil, rootPathError("open", name, err)
	}
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, rootPathError("open", name, err)
	}
	return &rootDir{fs: r, name: clean, file: file, conn: conn}, nil
}

func (d *rootDir) Close() error { return rootPathError("close", d.name, d.file.Close()) }

// with calls do with the handle, which stays open until it returns.
func (d *rootDir) with(do func(fd int) error) error {
	var err error
	if closed := d.conn.Control(func(fd uintptr) { err = do(int(fd)) }); closed != nil {
		return fs.ErrClosed
	}
	return err
}

func (d *rootDir) ReadDir() ([]fs.DirEntry, error) {
	d.list.Lock()
	defer d.list.Unlock()
	var entries []fs.DirEntry
	err := d.with(func(fd int) error {
		if _, err := unix.Seek(fd, 0, io.SeekStart); err != nil {
			return err
		}
		buf := make([]byte, 16<<10)
		for {
			var n int
			err := retry(func() (err error) {
				n, err = unix.Getdents(fd, buf)
				return err
			})
			if err != nil {
				return err
			}
			if n <= 0 {
				return nil
			}
			entries = d.parse(buf[:n], entries)
		}
	})
	if err != nil {
		return nil, rootPathError("readdir", d.name, err)
	}
	for i := range entries {
		if e := entries[i].(*rootEntry); e.unknown {
			info, err := e.Info()
			if err != nil {
				continue // it is gone already; to try to open it will say so
			}
			e.mode, e.unknown = info.Mode().Type(), false
		}
	}
	return entries, nil
}

// parse appends the entries in a block of what getdents64(2) returns: inode and offset, 8 bytes each, then the length of
// the entry, 2 bytes, its type, 1 byte, and the name with a NUL after it, the same on all processors.
func (d *rootDir) parse(block []byte, entries []fs.DirEntry) []fs.DirEntry {
	const offLen, offType, offName = 16, 18, 19
	for len(block) > offName {
		size := int(binary.NativeEndian.Uint16(block[offLen:]))
		if size <= offName || size > len(block) {
			break
		}
		name := block[offName:size]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if string(name) != "." && string(name) != ".." {
			mode, known := modeOfType(block[offType])
			entries = append(entries, &rootEntry{dir: d, name: string(name), mode: mode, unknown: !known})
		}
		block = block[size:]
	}
	return entries
}

func modeOfType(t byte) (mode fs.FileMode, known bool) {
	switch t {
	case unix.DT_REG:
		return 0, true
	case unix.DT_DIR:
		return fs.ModeDir, true
	case unix.DT_LNK:
		return fs.ModeSymlink, true
	case unix.DT_FIFO:
		return fs.ModeNamedPipe, true
	case unix.DT_SOCK:
		return fs.ModeSocket, true
	case unix.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice, true
	case unix.DT_BLK:
		return fs.ModeDevice, true
	}
	return fs.ModeIrregular, false
}

// rootEntry is an entry of a listing.
type rootEntry struct {
	dir     *rootDir
	name    string
	mode    fs.FileMode // only the type
	unknown bool
}

func (e *rootEntry) Name() string      { return e.name }
func (e *rootEntry) IsDir() bool       { return e.mode.IsDir() }
func (e *rootEntry) Type() fs.FileMode { return e.mode }
func (e *rootEntry) String() string    { return fs.FormatDirEntry(e) }

// Info asks by the handle of the directory, or by name if that is closed by now.
func (e *rootEntry) Info() (fs.FileInfo, error) {
	var stat unix.Stat_t
	err := e.dir.with(func(fd int) error {
		return retry(func() error { return unix.Fstatat(fd, e.name, &stat, unix.AT_SYMLINK_NOFOLLOW) })
	})
	full := path.Join(e.dir.name, e.name)
	if err == fs.ErrClosed {
		info, _, err := e.dir.fs.LstatIfPossible(full)
		return info, err
	}
	if err != nil {
		return nil, rootPathError("lstat", full, err)
	}
	return &rootInfo{name: e.name, stat: sysStat(&stat)}, nil
}

func (d *rootDir) OpenFile(name string) (ReadFile, error) {
	file := &rootReader{name: name, fd: -1}
	err := d.with(func(fd int) error {
		if err := checkEntryName(name); err != nil {
			return err
		}
		const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | openNoWait
		return retry(func() (err error) {
			file.fd, err = unix.Openat(fd, name, flags, 0)
			return err
		})
	})
	if err == unix.ELOOP {
		err = ErrNotRegular // O_NOFOLLOW says so of a symbolic link
	}
	if err == nil {
		err = file.check()
	}
	if err != nil {
		return nil, rootPathError("open", path.Join(d.name, name), err)
	}
	return file, nil
}

// rootReader is a regular file open for reading. It is not an *os.File, because that is registered with the poller of the
// runtime, twice the cost of opening a file that the poller then refuses.
type rootReader struct {
	name string
	fd   int
	stat syscall.Stat_t // when it was opened
}

// check closes what turns out not to be a regular file.
func (f *rootReader) check() error {
	err := retry(func() error { return syscall.Fstat(f.fd, &f.stat) })
	if err == nil && f.stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = ErrNotRegular
	}
	if err != nil {
		f.Close()
	}
	return err
}

func (f *rootReader) Read(p []byte) (int, error) {
	if f.fd < 0 {
		return 0, rootPathError("read", f.name, fs.ErrClosed)
	}
	if len(p) == 0 {
		return 0, nil
	}
	const most = 1 << 30 // the system takes no more than 2 GiB at once
	var n int
	err := retry(func() (err error) {
		n, err = unix.Read(f.fd, p[:min(len(p), most)])
		return err
	})
	switch {
	case err != nil:
		return 0, rootPathError("read", f.name, err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Stat says what the file is now, not what it was when it was opened, so that a reader can see that it grew.
func (f *rootReader) Stat() (fs.FileInfo, error) {
	if f.fd < 0 {
		return nil, rootPathError("stat", f.name, fs.ErrClosed)
	}
	info := &rootInfo{name: f.name}
	if err := retry(func() error { return syscall.Fstat(f.fd, &info.stat) }); err != nil {
		return nil, rootPathError("stat", f.name, err)
	}
	return info, nil
}

func (f *rootReader) Close() error {
	if f.fd < 0 {
		return rootPathError("close", f.name, fs.ErrClosed)
	}
	fd := f.fd
	f.fd = -1
	return rootPathError("close", f.name, unix.Close(fd))
}

// sysStat turns the one type for what stat(2) says into the other, which is what all of package os hands out.
func sysStat(s *unix.Stat_t) syscall.Stat_t {
	return syscall.Stat_t{
		Dev: s.Dev, Ino: s.Ino, Nlink: s.Nlink, Mode: s.Mode, Uid: s.Uid, Gid: s.Gid, Rdev: s.Rdev,
		Size: s.Size, Blksize: s.Blksize, Blocks: s.Blocks,
		Atim: syscall.Timespec(s.Atim), Mtim: syscall.Timespec(s.Mtim), Ctim: syscall.Timespec(s.Ctim),
	}
}

// rootInfo is what stat(2) says.
type rootInfo struct {
	name string
	stat syscall.Stat_t
}

func (i *rootInfo) Name() string       { return i.name }
func (i *rootInfo) Size() int64        { return i.stat.Size }
func (i *rootInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *rootInfo) Sys() any           { return &i.stat }
func (i *rootInfo) ModTime() time.Time { return time.Unix(i.stat.Mtim.Unix()) }

func (i *rootInfo) Mode() fs.FileMode {
	mode := fs.FileMode(i.stat.Mode & 0o777)
	kind, known := modeOfType(byte(i.stat.Mode & syscall.S_IFMT >> 12)) // IFTODT of <dirent.h>
	if !known {
		kind = fs.ModeIrregular
	}
	mode |= kind
	if i.stat.Mode&syscall.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if i.stat.Mode&syscall.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if i.stat.Mode&syscall.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
