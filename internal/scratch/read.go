package scratch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// tries is the number of reads of a file that changes during each read.
const tries = 3

// errRestless reports that a file has changed during each read.
func errRestless(name string) error {
	return fmt.Errorf("%s goes on changing while it is read: a process of the command may still be at work", name)
}

// steady is a file of the scratch tree that is being read. It detects that the file changes during the read.
type steady struct {
	handle.RandomFile
	name string
	look rootfs.Look
}

// Read returns names.ErrDrift instead of io.EOF if the file has changed since it was opened.
func (s *steady) Read(p []byte) (int, error) {
	n, err := s.RandomFile.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if now, lerr := rootfs.LookInto(s.RandomFile); lerr != nil || now != s.look {
		return n, names.PathError("read", s.name, errors.Join(names.ErrDrift, lerr))
	}
	return n, err
}

// opener returns a function that opens the file.
func (t *tree) opener(f *found) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		if t.closed {
			return nil, errClosed
		}
		return t.openFound(f)
	}
}

// openFound opens a file of the scratch tree in spite of its mode. It follows no link.
func (t *tree) openFound(f *found) (*steady, error) {
	file, err := handle.OpenFile(t.fsys, f.path)
	if errors.Is(err, fs.ErrPermission) {
		if err = t.fsys.Chmod(f.path, f.look.Mode&permBits|0o400); err != nil {
			return nil, err
		}
		file, err = handle.OpenFile(t.fsys, f.path)
		f.opened = true
		if cerr := t.fsys.Chmod(f.path, f.look.Mode&permBits); err == nil && cerr != nil {
			err = errors.Join(cerr, file.Close())
		}
	}
	if err != nil {
		return nil, err
	}
	look, err := rootfs.LookInto(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &steady{file, f.path, look}, nil
}

// sameAs reports whether a file of the scratch tree has the bytes that the view has at the name.
func (t *tree) sameAs(ctx context.Context, f *found, name string) (same bool, err error) {
	for range tries {
		same, err = t.compareOnce(ctx, f, name)
		if !errors.Is(err, errChanged) {
			return same, err
		}
	}
	return false, errRestless(f.path)
}

// errChanged means that a file of the scratch tree has changed while it was read.
var errChanged = errors.New("changed while it was read")

func (t *tree) compareOnce(ctx context.Context, f *found, name string) (bool, error) {
	here, err := t.openFound(f)
	if err != nil {
		return false, err
	}
	defer here.Close()
	there, err := t.view.Open(name)
	if isOvertaken(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer there.Close()
	block := min(64<<10, here.look.Size+1)
	a, b := make([]byte, block), make([]byte, block)
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, endA := io.ReadFull(here, a)
		if errors.Is(endA, names.ErrDrift) {
			return false, errChanged
		}
		m, endB := io.ReadFull(there, b)
		if isOvertaken(endB) {
			return false, nil
		}
		for _, err := range [...]error{endA, endB} {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return false, err
			}
		}
		if !bytes.Equal(a[:n], b[:m]) {
			return false, nil
		}
		if endA != nil || endB != nil {
			return endA != nil && endB != nil, nil
		}
	}
}

// isOvertaken reports whether a file of the view cannot be read because another program has changed or removed it. The
// file then counts as changed, and [Stage] reports the drift.
func isOvertaken(err error) bool {
	return errors.Is(err, names.ErrDrift) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, names.ErrNotDir) ||
		errors.Is(err, names.ErrNotRegular)
}

// hashOld returns the hash of a file of the view.
func (t *tree) hashOld(name string) (change.Hash, error) {
	content, err := t.view.Content(name)
	if err != nil {
		return change.Hash{}, err
	}
	return content.Hash()
}

// hashFound returns the hash of a file of the scratch tree.
func (t *tree) hashFound(ctx context.Context, f *found) (change.Hash, error) {
	for range tries {
		h, err := t.hashOnce(ctx, f)
		if !errors.Is(err, names.ErrDrift) {
			return h, err
		}
	}
	return change.Hash{}, errRestless(f.path)
}

func (t *tree) hashOnce(ctx context.Context, f *found) (h change.Hash, err error) {
	file, err := t.openFound(f)
	if err != nil {
		return h, err
	}
	defer file.Close()
	sum, buf := sha256.New(), make([]byte, min(64<<10, file.look.Size+1))
	for {
		if err := ctx.Err(); err != nil {
			return h, err
		}
		n, err := file.Read(buf)
		sum.Write(buf[:n])
		if err == io.EOF {
			return change.Hash(sum.Sum(nil)), nil
		}
		if err != nil {
			return h, err
		}
	}
}
