package rootfs

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/names"
)

// lookAt makes one call of statx(2), which also reports when a file was made. ok is false if the system lacks the call,
// or if the entry does not belong to an open directory of this package.
func lookAt(item fs.DirEntry) (l Look, ok bool, err error) {
	e, own := item.(*rootEntry)
	if !own {
		return l, false, nil
	}
	e.dir.mu.RLock()
	defer e.dir.mu.RUnlock()
	if e.dir.fd < 0 {
		return l, false, nil
	}
	l, err = statx(e.dir.fd, e.name, unix.AT_SYMLINK_NOFOLLOW)
	if isNoStatx(err) {
		return l, false, nil
	}
	return l, true, names.PathError("lstat", path.Join(e.dir.name, e.name), err)
}

func lookInto(f interface{ Stat() (fs.FileInfo, error) }) (l Look, ok bool, err error) {
	switch f := f.(type) {
	case interface{ Fd() uintptr }:
		l, err = statx(int(f.Fd()), "", unix.AT_EMPTY_PATH)
	case *rootReader:
		l, err = statx(f.fd, "", unix.AT_EMPTY_PATH)
	default:
		return l, false, nil
	}
	return l, !isNoStatx(err), err
}

func isNoStatx(err error) bool { return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) }

func statx(dir int, base string, flags int) (Look, error) {
	var s unix.Statx_t
	err := retry(func() error {
		return unix.Statx(dir, base, flags|unix.AT_NO_AUTOMOUNT, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &s)
	})
	if err != nil {
		return Look{}, err
	}
	mode := rootInfo{stat: syscall.Stat_t{Mode: uint32(s.Mode)}}
	l := Look{
		Mode: mode.Mode(), Size: int64(s.Size), MTime: nano(s.Mtime), CTime: nano(s.Ctime), Ino: s.Ino,
		Nlink: uint64(s.Nlink),
	}
	if s.Mask&unix.STATX_BTIME != 0 {
		l.BTime = nano(s.Btime)
	}
	return l, nil
}

func nano(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }

func (l *Look) addSystem(info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		l.CTime, l.Ino, l.Nlink = stat.Ctim.Nano(), stat.Ino, uint64(stat.Nlink)
	}
}

func (b beneath) lookBy(clean string) (l Look, err error) {
	if clean != "." {
		err = b.at(clean, func(dir int, base string) (err error) {
			l, err = statx(dir, base, unix.AT_SYMLINK_NOFOLLOW)
			return err
		})
	}
	if clean == "." || isNoStatx(err) {
		return lookOf(b.Lstat(clean))
	}
	return l, err
}
