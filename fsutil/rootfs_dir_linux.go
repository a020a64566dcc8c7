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
	file, err := r.root.openDirectory(clean)
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
