package rootfs

import "io/fs"

// Look has the attributes of a file, to find out later whether the file has changed.
type Look struct {
	Mode  fs.FileMode // with type bits
	Size  int64
	MTime int64 // all times are nanoseconds since the Unix epoch
	// CTime is the time of the last change of the file or its attributes, which no program can set. It is 0 if the
	// system does not report it.
	CTime int64
	// BTime is the time of creation. A later file may get the inode number of a removed file, but not the same BTime.
	// It is 0 if the system does not report it.
	BTime int64
	Ino   uint64 // 0 if the system does not report it
	Nlink uint64
}

// LookAt returns the attributes of an entry in a listing of [FS.OpenDir], without following a link.
func LookAt(item fs.DirEntry) (Look, error) {
	if l, ok, err := lookAt(item); ok {
		return l, err
	}
	return lookOf(item.Info())
}

// LookInto returns the attributes of an open file.
func LookInto(f interface{ Stat() (fs.FileInfo, error) }) (Look, error) {
	if l, ok, err := lookInto(f); ok {
		return l, err
	}
	return lookOf(f.Stat())
}

// lookOf returns the attributes in info, or err.
func lookOf(info fs.FileInfo, err error) (Look, error) {
	if err != nil {
		return Look{}, err
	}
	l := Look{Mode: info.Mode(), Size: info.Size(), MTime: info.ModTime().UnixNano()}
	l.addSystem(info)
	return l, nil
}

// Look returns the attributes of the file at a name, without following a link there.
func (r *FS) Look(name string) (l Look, err error) {
	err = r.doLink("lstat", name, func(clean string) (err error) {
		l, err = r.root.lookBy(clean)
		return err
	})
	return l, err
}
