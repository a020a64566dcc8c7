package semantics_test

import (
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// watchedRoot is a RootFs, with all that one can do, that calls look after every operation that changes something.
type watchedRoot struct {
	*fsutil.RootFs
	look func()
}

// FastPath gives none, which would lead past the methods below.
func (watchedRoot) FastPath() fsutil.FastPath { return nil }

func watched(root *fsutil.RootFs, look func()) afero.Fs { return watchedRoot{root, look} }

func (w watchedRoot) Create(n string) (afero.File, error) {
	return w.OpenFile(n, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (w watchedRoot) OpenFile(n string, flag int, mode os.FileMode) (afero.File, error) {
	f, err := w.RootFs.OpenFile(n, flag, mode)
	if err != nil || flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return f, err
	}
	w.look()
	return watchedFile{f, w.look}, nil
}

func (w watchedRoot) Remove(n string) error {
	defer w.look()
	return w.RootFs.Remove(n)
}

func (w watchedRoot) RemoveAll(n string) error {
	defer w.look()
	return w.RootFs.RemoveAll(n)
}

func (w watchedRoot) Rename(a, b string) error {
	defer w.look()
	return w.RootFs.Rename(a, b)
}

func (w watchedRoot) RenameNoReplace(a, b string) error {
	defer w.look()
	return w.RootFs.RenameNoReplace(a, b)
}

func (w watchedRoot) Exchange(a, b string) error {
	defer w.look()
	return w.RootFs.Exchange(a, b)
}

func (w watchedRoot) Link(a, b string) error {
	defer w.look()
	return w.RootFs.Link(a, b)
}

// watchedFile hides ReadFrom, so that a long copy is many writes.
type watchedFile struct {
	afero.File
	look func()
}

func (f watchedFile) Write(p []byte) (int, error) {
	defer f.look()
	return f.File.Write(p)
}

func (f watchedFile) Truncate(n int64) error {
	defer f.look()
	return f.File.Truncate(n)
}
