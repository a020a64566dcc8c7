package errorfs

import (
	"io/fs"
	"time"

	"github.com/spf13/afero"
)

func (w wrapped) Stat(name string) (fs.FileInfo, error) {
	op, err := w.do(Op{Kind: "stat", Name: name}, func(op *Op) (err error) {
		op.Info, err = w.below.Stat(op.Name)
		return err
	})
	return op.Info, err
}

// LstatIfPossible exists for every file system: if it is not possible, the result reports that.
func (w wrapped) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	possible := false
	op, err := w.do(Op{Kind: "lstat", Name: name}, func(op *Op) (err error) {
		if below, ok := w.below.(afero.Lstater); ok {
			op.Info, possible, err = below.LstatIfPossible(op.Name)
			return err
		}
		op.Info, err = w.below.Stat(op.Name)
		return err
	})
	return op.Info, possible, err
}

func (w wrapped) Chmod(name string, mode fs.FileMode) error {
	return w.change(Op{Kind: "chmod", Name: name, Mode: mode},
		func(op *Op) error { return w.below.Chmod(op.Name, op.Mode) })
}

func (w wrapped) Chown(name string, uid, gid int) error {
	return w.change(Op{Kind: "chown", Name: name}, func(op *Op) error { return w.below.Chown(op.Name, uid, gid) })
}

func (w wrapped) Chtimes(name string, atime, mtime time.Time) error {
	return w.change(Op{Kind: "chtimes", Name: name},
		func(op *Op) error { return w.below.Chtimes(op.Name, atime, mtime) })
}
