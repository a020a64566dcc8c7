package errorfs

import (
	"errors"
	"io/fs"

	"github.com/spf13/afero"
)

// File is an open file with a hook around its operations. The embedded File is the one below.
type File struct {
	afero.File
	hook     Hook
	name     string
	writable bool
}

func (f *File) do(op Op, do func(op *Op) error) (*Op, error) {
	p := &op
	p.Name = f.name
	return p, f.hook(p, func() error { return do(p) })
}

// transfer carries out a read or a write. A hook can call do several times, for parts.
func (f *File) transfer(op Op, do func(p []byte) (int, error)) (int, error) {
	p, err := f.do(op, func(op *Op) error {
		n, err := do(op.Data)
		op.Count += n
		return err
	})
	return p.Count, err
}

func (f *File) Read(p []byte) (int, error) { return f.transfer(Op{Kind: "read", Data: p}, f.File.Read) }

func (f *File) ReadAt(p []byte, off int64) (int, error) {
	return f.transfer(Op{Kind: "pread", Data: p}, func(p []byte) (int, error) { return f.File.ReadAt(p, off) })
}

func (f *File) Write(p []byte) (int, error) {
	return f.transfer(Op{Kind: "write", Data: p, Writes: true}, f.File.Write)
}

func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *File) WriteAt(p []byte, off int64) (int, error) {
	return f.transfer(Op{Kind: "pwrite", Data: p, Writes: true}, func(p []byte) (n int, err error) {
		n, err = f.File.WriteAt(p, off)
		off += int64(n)
		return n, err
	})
}

func (f *File) Truncate(size int64) error {
	_, err := f.do(Op{Kind: "truncate", Writes: true}, func(*Op) error { return f.File.Truncate(size) })
	return err
}

func (f *File) Sync() error {
	_, err := f.do(Op{Kind: "sync", Writes: true}, func(*Op) error { return f.File.Sync() })
	return err
}

func (f *File) Readdirnames(n int) ([]string, error) {
	op, err := f.do(Op{Kind: "readdir"}, func(op *Op) (err error) {
		op.Names, err = f.File.Readdirnames(n)
		return err
	})
	return op.Names, err
}

func (f *File) Readdir(n int) ([]fs.FileInfo, error) {
	op, err := f.do(Op{Kind: "readdir"}, func(op *Op) (err error) {
		op.Infos, err = f.File.Readdir(n)
		return err
	})
	return op.Infos, err
}

func (f *File) Stat() (fs.FileInfo, error) {
	op, err := f.do(Op{Kind: "fstat"}, func(op *Op) (err error) {
		op.Info, err = f.File.Stat()
		return err
	})
	return op.Info, err
}

// Close closes the file even if the hook does not.
func (f *File) Close() error {
	closed := false
	_, err := f.do(Op{Kind: "close", Writes: f.writable}, func(*Op) error {
		closed = true
		return f.File.Close()
	})
	if !closed {
		err = errors.Join(err, f.File.Close())
	}
	return err
}
