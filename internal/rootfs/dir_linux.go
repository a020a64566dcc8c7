package rootfs

import (
	"encoding/binary"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
)

// rootDir is an open directory of Linux. It lists and opens by system calls on the handle, without an *os.File for each
// file, and without the lstat for each entry that a listing through os.Root needs. It must be closed: the garbage
// collector does not close it.
type rootDir struct {
	fs   *FS
	name string

	mu sync.RWMutex // held for reading while the handle is used
	fd int          // -1 once it is closed

	list   sync.Mutex // a directory handle has one reading position
	listed bool
}

// OpenDir implements [capability.DirOpener]. Entries of its listings have their type without a further call, except on
// file systems that do not report types.
func (r *FS) OpenDir(name string) (dir capability.DirHandle, err error) {
	err = r.do("open", name, func(clean string) error {
		fd, err := r.root.openDirFD(clean)
		dir = &rootDir{fs: r, name: clean, fd: fd}
		return err
	})
	if err != nil {
		return nil, err
	}
	return dir, nil
}

// OpenPlainDir is OpenDir for a canonical name that leads through no symbolic link. Anything else is an error.
func (r *FS) OpenPlainDir(clean string) (capability.DirHandle, error) {
	fd, err := r.root.open(clean, openDirFlags, 0)
	if err != nil {
		return nil, err
	}
	return &rootDir{fs: r, name: clean, fd: fd}, nil
}

func (d *rootDir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fd < 0 {
		return names.PathError("close", d.name, fs.ErrClosed)
	}
	fd := d.fd
	d.fd = -1
	return names.PathError("close", d.name, unix.Close(fd))
}

func (d *rootDir) ReadDir() ([]fs.DirEntry, error) {
	found, err := d.read()
	if err != nil {
		return nil, names.PathError("readdir", d.name, err)
	}
	entries := make([]fs.DirEntry, len(found))
	for i := range found {
		e := &found[i]
		entries[i] = e
		if !e.unknown {
			continue
		}
		// A removed entry is found when it is opened.
		if info, err := e.Info(); err == nil {
			e.mode, e.unknown = info.Mode().Type(), false
		}
	}
	return entries, nil
}

func (d *rootDir) read() (entries []rootEntry, err error) {
	d.list.Lock()
	defer d.list.Unlock()
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.fd < 0 {
		return nil, fs.ErrClosed
	}
	if d.listed {
		if _, err := unix.Seek(d.fd, 0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	d.listed = true
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.Getdents(d.fd, buf)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case n <= 0:
			return entries, nil
		default:
			entries = d.parse(buf[:n], entries)
		}
	}
}

// parse appends the entries in a block of what getdents64(2) returns: inode and offset, 8 bytes each, then the length
// of the entry, 2 bytes, its type, 1 byte, and the name with a NUL after it, the same on all processors.
func (d *rootDir) parse(block []byte, entries []rootEntry) []rootEntry {
	const offLen, offType, offName = 16, 18, 19
	names := string(block) // one allocation for all names
	for at := 0; len(block)-at > offName; {
		size := int(binary.NativeEndian.Uint16(block[at+offLen:]))
		if size <= offName || size > len(block)-at {
			break
		}
		name, terminated := names[at+offName:at+size], ""
		if end := strings.IndexByte(name, 0); end >= 0 {
			name, terminated = name[:end], name[:end+1]
		}
		if name != "." && name != ".." {
			mode, known := modeOfType(block[at+offType])
			entries = append(entries,
				rootEntry{dir: d, name: name, terminated: terminated, mode: mode, unknown: !known})
		}
		at += size
	}
	return entries
}

// modeOfType returns the type of an entry in the form of package os. known is false if the file system does not report
// the type.
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
	dir  *rootDir
	name string
	// terminated is the name with a NUL at its end, as the system requires it; "" if it was not made.
	terminated string
	mode       fs.FileMode // only the type
	unknown    bool
}

func (e *rootEntry) Name() string      { return e.name }
func (e *rootEntry) IsDir() bool       { return e.mode.IsDir() }
func (e *rootEntry) Type() fs.FileMode { return e.mode }
func (e *rootEntry) String() string    { return fs.FormatDirEntry(e) }

// Info uses the handle of the directory, or the name if the handle is closed.
func (e *rootEntry) Info() (fs.FileInfo, error) {
	info := &rootInfo{name: e.name}
	full := path.Join(e.dir.name, e.name)
	e.dir.mu.RLock()
	fd := e.dir.fd
	err := error(nil)
	if fd >= 0 {
		err = statAt(fd, e.name, &info.stat)
	}
	e.dir.mu.RUnlock()
	switch {
	case fd < 0:
		info, _, err := e.dir.fs.LstatIfPossible(full)
		return info, err
	case err != nil:
		return nil, names.PathError("lstat", full, err)
	}
	return info, nil
}

func (d *rootDir) OpenFile(name string) (capability.ReadFile, error) {
	file := new(rootReader)
	if err := d.open(file, name, ""); err != nil {
		return nil, err
	}
	return file, nil
}

// OpenIn avoids a copy of the name for the system, if the name comes from a listing.
func (d *rootDir) OpenIn(r *handle.Reader, name string, item fs.DirEntry) error {
	own, ok := r.Own.(*rootReader)
	if !ok {
		own = new(rootReader)
		r.Own = own
	}
	r.ReadFile = own
	terminated := ""
	if entry, ok := item.(*rootEntry); ok && entry.name == name {
		terminated = entry.terminated
	}
	return d.open(own, name, terminated)
}

// open opens a file of the directory. terminated is its name with a NUL at its end, or "".
func (d *rootDir) open(file *rootReader, name, terminated string) error {
	*file = rootReader{number: number{name, -1}}
	err := error(nil)
	if terminated == "" {
		if err = checkEntryName(name); err == nil {
			terminated = name + "\x00"
		}
	}
	if err == nil {
		file.fd, err = d.openFD(terminated)
	}
	if err == unix.ELOOP {
		err = names.ErrNotRegular // the error of O_NOFOLLOW for a symbolic link
	}
	if err == nil {
		err = file.check()
	}
	if err != nil {
		return names.PathError("open", path.Join(d.name, name), err)
	}
	return nil
}

// openFD is like unix.Openat, but for a name that already ends in a NUL. unix.Openat copies each name, which is most of
// the memory that reading a file needs.
func (d *rootDir) openFD(name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | openNoWait
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.fd < 0 {
		return -1, fs.ErrClosed
	}
	for {
		fd, _, errno := unix.Syscall6(unix.SYS_OPENAT,
			uintptr(d.fd), uintptr(unsafe.Pointer(unsafe.StringData(name))), flags, 0, 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.EINTR:
		default:
			return -1, errno
		}
	}
}
