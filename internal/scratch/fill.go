package scratch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// portion is the number of files of one directory that a goroutine writes at a time.
const portion = 256

// fill writes the files and links, several at a time.
func (r *renewal) fill() error {
	var parts [][]*entry
	for _, dir := range slices.Sorted(maps.Keys(r.leaves)) {
		if err := r.unlock(dir); err != nil {
			return err
		}
		list := r.leaves[dir]
		slices.SortFunc(list, func(a, b *entry) int { return strings.Compare(a.path, b.path) })
		parts = slices.AppendSeq(parts, slices.Chunk(list, portion))
	}
	return parallel.Each(r.ctx, workers(), len(parts), func(i int) error { return r.fillDir(parts[i]) })
}

// filling is the work on files and links of one directory.
type filling struct {
	*renewal
	from capability.DirHandle // of the view
	to   *rootfs.FS           // the scratch tree, with its directory open
	buf  []byte
}

// fillDir writes some files and links of one directory.
func (r *renewal) fillDir(part []*entry) error {
	name := path.Dir(part[0].path)
	from, err := r.t.view.OpenDir(name)
	if err != nil {
		return err
	}
	defer from.Close()
	to, done := r.t.fsys.Holding(name)
	defer done()
	buf := r.buffer()
	defer r.buffers.Put(buf)
	w := &filling{r, from, to, *buf}
	for _, e := range part {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if e.kind == change.Symlink {
			err = w.link(e)
		} else {
			err = w.write(e)
		}
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s: the file system of the scratch tree has another name for it already: %w", e.path, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// buffer returns a buffer, to be put back into the pool.
func (r *renewal) buffer() *[]byte {
	if buf, ok := r.buffers.Get().(*[]byte); ok {
		return buf
	}
	buf := make([]byte, 64<<10)
	return &buf
}

func (w *filling) link(e *entry) error {
	if err := w.to.SymlinkIfPossible(e.target, e.path); err != nil {
		return err
	}
	var look rootfs.Look
	err := error(nil)
	if timer, ok := any(w.to).(capability.LinkTimer); ok {
		err = timer.LinkTimes(e.path, e.mtime.UnixNano())
	}
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		look, err = w.t.look(w.to.Look(e.path))
	}
	e.look = look
	return err
}

// write writes a new file. If the bytes in the view change during the copy, it starts again, up to three times.
func (w *filling) write(e *entry) error {
	for left := 3; ; left-- {
		err := w.copy(e)
		switch {
		case err == nil, left == 0:
			return err
		case errors.Is(err, fs.ErrPermission) && e.withheld == "":
			e.withheld = unreadable
			return nil
		case !errors.Is(err, names.ErrDrift):
			return err
		}
		if rerr := w.to.Remove(e.path); rerr != nil {
			return errors.Join(err, rerr)
		}
		if err := w.again(e); err != nil {
			return err
		}
	}
}

// again reads the attributes of a file of the view again.
func (r *renewal) again(e *entry) error {
	info, _, err := r.t.view.LstatIfPossible(e.path)
	if err == nil && !info.Mode().IsRegular() {
		err = names.PathError("open", e.path, names.ErrDrift)
	}
	if err != nil {
		return err
	}
	e.size, e.mode, e.mtime = info.Size(), info.Mode()&permBits, info.ModTime()
	e.version, e.asBase, e.sure, err = r.t.view.VersionIn(e.path, info)
	return err
}

// copy writes the bytes of a file of the view. The error is fs.ErrPermission only if the file of the view is
// unreadable. Then nothing was written.
func (w *filling) copy(e *entry) (err error) {
	from, err := w.from.OpenFile(path.Base(e.path))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := w.to.CreateNew(e.path, e.mode|0o200)
	if err != nil {
		return noPermission(err)
	}
	defer func() { err = noPermission(errors.Join(err, to.Close())) }()
	var n int64
	sum, out := sha256.New(), io.Writer(to)
	if e.sure {
		n, err = share(w.ctx, to, from, e.size)
	} else {
		out = io.MultiWriter(to, sum)
	}
	if err == nil && n == 0 {
		n, err = copyBytes(w.ctx, out, from, w.buf)
	}
	if !e.sure {
		e.hash = change.Hash(sum.Sum(nil))
	}
	if err == nil && n != e.size {
		err = names.PathError("read", e.path, names.ErrDrift)
	}
	if err != nil {
		return err
	}
	if e.asBase {
		if now, serr := from.Stat(); serr != nil || now.Size() != e.size || !now.ModTime().Equal(e.mtime) {
			return names.PathError("read", e.path, names.ErrDrift)
		}
		if err := to.Chtimes(time.Time{}, e.mtime); err != nil {
			return err
		}
	}
	if e.look, err = w.t.look(rootfs.LookInto(to)); err != nil || e.look.Mode.Perm() == e.mode {
		return err
	}
	if err := to.Chmod(e.mode); err != nil { // against the umask
		return err
	}
	e.look, err = w.t.look(rootfs.LookInto(to))
	return err
}

// noPermission makes an error of the scratch tree not match fs.ErrPermission, which is only for errors of the view.
func noPermission(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("scratch tree: %s", err.Error())
	}
	return err
}

// share lets the system copy a large file, which is immediate on some file systems. It returns 0 if nothing was copied.
func share(ctx context.Context, to, from any, size int64) (n int64, err error) {
	const large, atOnce = 1 << 20, 64 << 20
	copier, ok := from.(interface {
		CopyTo(to interface{ Fd() uintptr }, most int64) (int64, error)
	})
	file, isFile := to.(interface{ Fd() uintptr })
	if !ok || !isFile || size < large {
		return 0, nil
	}
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		m, err := copier.CopyTo(file, atOnce)
		switch {
		case errors.Is(err, errors.ErrUnsupported) && n == 0:
			return 0, nil
		case err != nil:
			return n, err
		case m == 0:
			return n, nil
		}
		n += m
	}
}

// copyBytes copies a file to its end.
func copyBytes(ctx context.Context, to io.Writer, from capability.ReadFile, buf []byte) (n int64, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		m, whole, err := handle.ReadHead(from, buf)
		if err != nil {
			return n, err
		}
		if m > 0 {
			if _, err := to.Write(buf[:m]); err != nil {
				return n, err
			}
		}
		n += int64(m)
		if whole || m < len(buf) {
			return n, nil
		}
	}
}
