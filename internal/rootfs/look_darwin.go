package rootfs

import (
	"io/fs"
	"syscall"
)

func lookAt(fs.DirEntry) (l Look, ok bool, err error) { return l, false, nil }

func lookInto(interface{ Stat() (fs.FileInfo, error) }) (l Look, ok bool, err error) {
	return l, false, nil
}

func (l *Look) addSystem(info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		l.CTime, l.BTime = stat.Ctimespec.Nano(), stat.Birthtimespec.Nano()
		l.Ino, l.Nlink = stat.Ino, uint64(stat.Nlink)
	}
}

func (b beneath) lookBy(clean string) (Look, error) {
	info, err := b.Lstat(clean)
	if err != nil {
		return Look{}, err
	}
	return lookOf(info), nil
}
