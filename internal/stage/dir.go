package stage

import (
	"io"
	"io/fs"
	"os"

	"github.com/millrace-go/millrace/internal/names"
)

// openDir is a handle on a directory. It is also an [fs.ReadDirFile].
type openDir struct {
	handleOf
	path string
	ent  ent

	kids   []kid // entries that are still to be listed
	listed bool
}

func (d *openDir) Close() error {
	return d.do("close", func() error {
		d.closed = true
		return nil
	})
}

// next returns up to n entries, all that are left if n is not positive.
func (d *openDir) next(n int) ([]kid, error) {
	if !d.listed {
		kids, err := d.s.listed(d.ent, d.path)
		if err != nil {
			return nil, err
		}
		d.kids, d.listed = kids, true
	}
	switch {
	case n > 0 && len(d.kids) == 0:
		return nil, io.EOF
	case n <= 0 || n > len(d.kids):
		n = len(d.kids)
	}
	some := d.kids[:n]
	d.kids = d.kids[n:]
	return some, nil
}

// listAs returns up to n entries, converted by of.
func listAs[T any](d *openDir, n int, of func(k kid) (T, error)) (all []T, err error) {
	err = d.do("readdir", func() error {
		kids, err := d.next(n)
		if err != nil {
			return err
		}
		made := make([]T, len(kids))
		for i, k := range kids {
			if made[i], err = of(k); err != nil {
				return err
			}
		}
		all = made
		return nil
	})
	return all, err
}

// ReadDir lists the directory in the order of names, without reading the attributes of each entry.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	return listAs(d, n, func(k kid) (fs.DirEntry, error) { return d.s.entryOf(k), nil })
}

func (d *openDir) Readdir(n int) ([]os.FileInfo, error) {
	return listAs(d, n, func(k kid) (os.FileInfo, error) { return dirEntry{k, d.s}.Info() })
}

func (d *openDir) Readdirnames(n int) ([]string, error) {
	return listAs(d, n, func(k kid) (string, error) { return k.name, nil })
}

func (d *openDir) Stat() (info os.FileInfo, err error) {
	err = d.do("stat", func() error {
		d.s.mu.RLock()
		defer d.s.mu.RUnlock()
		info = d.ent.info(d.path)
		return nil
	})
	return info, err
}

// Seek to the start begins the listing anew. Nothing else is possible.
func (d *openDir) Seek(offset int64, whence int) (int64, error) {
	return 0, d.do("seek", func() error {
		if offset != 0 || whence != io.SeekStart {
			return names.ErrIsDir
		}
		d.kids, d.listed = nil, false
		return nil
	})
}

// no is the result of the methods below, which do not work on a directory.
func (d *openDir) no(op string) error { return d.do(op, func() error { return names.ErrIsDir }) }

func (d *openDir) Read([]byte) (int, error)           { return 0, d.no("read") }
func (d *openDir) ReadAt([]byte, int64) (int, error)  { return 0, d.no("read") }
func (d *openDir) Write([]byte) (int, error)          { return 0, d.no("write") }
func (d *openDir) WriteAt([]byte, int64) (int, error) { return 0, d.no("write") }
func (d *openDir) WriteString(string) (int, error)    { return 0, d.no("write") }
func (d *openDir) Truncate(int64) error               { return d.no("truncate") }
