package rootfs

import (
	"io/fs"
	"syscall"
)

func (l *Look) addSystem(info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		l.CTime, l.BTime = stat.Ctimespec.Nano(), stat.Birthtimespec.Nano()
		l.Ino, l.Nlink = stat.Ino, uint64(stat.Nlink)
	}
}
