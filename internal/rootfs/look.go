package rootfs

import "io/fs"

// Look is what the system says of something that stands at a name, for telling later whether it is still that.
type Look struct {
	Mode  fs.FileMode // with type bits
	Size  int64
	MTime int64 // all times are nanoseconds since the Unix epoch
	// CTime is when anything of it was changed last, which no program can set. 0 where the system does not say.
	CTime int64
	// BTime is the time of creation. A later file may get the inode number of a removed file, but not this time with
	// it. It is 0 if the system does not report it.
	BTime int64
	Ino   uint64 // 0 where the system does not say
	Nlink uint64
}

// LookAt returns what there is to say of an entry of a listing that [FS.OpenDir] gave, without following a link.
func LookAt(item fs.DirEntry) (Look, error) {
	if l, ok, err := lookAt(item); ok {
		return l, err
	}
	return lookOf(item.Info())
}

// LookInto returns what there is to say of a file that is open.
func LookInto(f interface{ Stat() (fs.FileInfo, error) }) (Look, error) {
	if l, ok, err := lookInto(f); ok {
		return l, err
	}
	return lookOf(f.Stat())
}

// lookOf returns what info says, or the error of asking for it.
func lookOf(info fs.FileInfo, err error) (Look, error) {
	if err != nil {
		return Look{}, err
	}
	l := Look{Mode: info.Mode(), Size: info.Size(), MTime: info.ModTime().UnixNano()}
	l.addSystem(info)
	return l, nil
}

// Look returns what there is to say of what stands at a name, without following a link there.
func (r *FS) Look(name string) (l Look, err error) {
	err = r.doLink("lstat", name, func(clean string) (err error) {
		l, err = r.root.lookBy(clean)
		return err
	})
	return l, err
}
