// Package library reads the files of one directory by their names: only regular files, limited in number and size, with
// exactly the given names and one of certain extensions, and no file outside the directory, even through a link.
package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// MostEntries is the maximum number of entries in a directory: all are listed, to find one by its exact name.
const MostEntries = 10_000

// Dir is an open directory. A directory that does not exist has no names.
type Dir struct {
	// Names are the names of the files without their extensions, sorted. A name with two extensions is listed once. Names
	// that begin with a dot are left out.
	Names []string

	ends  []string
	files map[string][]string // the files of each name
	// on the file system of the directory: it resolves links, and opens only regular files
	stage *stage.Stage
	at    string    // its name there, without links
	own   io.Closer // a file system opened by Open, or nil
}

// Open lists the directory at a path of a file system, for files of at most most bytes whose names have any of the
// extensions in ends, such as ".json". Links in the path are followed as far as the file system allows. For an
// afero.OsFs, the directory itself becomes a root, so that nothing leads out of it.
func Open(ctx context.Context, fsys afero.Fs, at string, most int64, ends ...string) (_ *Dir, err error) {
	d := &Dir{at: at, ends: ends, files: make(map[string][]string)}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	if fsys, err = d.raise(fsys); err != nil || fsys == nil {
		return d, err
	}
	d.stage = stage.New(fsys)
	d.stage.SetMaxRead(most)
	there, err := isDirectory(d.stage, d.at)
	if err != nil || !there {
		return d, err
	}
	if d.at, err = d.stage.Resolve(d.at); err == nil {
		err = d.list(ctx, fsys)
	}
	return d, err
}

// Close closes everything that Open has opened.
func (d *Dir) Close() {
	if d.stage != nil {
		_ = d.stage.Close() // it was only read
	}
	if d.own != nil {
		_ = d.own.Close()
	}
}

// add adds a file whose name has one of the extensions.
func (d *Dir) add(file string) {
	for _, end := range d.ends {
		name, ok := strings.CutSuffix(file, end)
		if !ok || name == "" || name[0] == '.' || !names.IsPlain(file) {
			continue
		}
		if d.files[name] == nil {
			d.Names = append(d.Names, name)
		}
		d.files[name] = append(d.files[name], file)
	}
}

// Has reports whether there is a file of that name.
func (d *Dir) Has(name string) bool {
	_, ok := slices.BinarySearch(d.Names, name)
	return ok
}

// raise returns the file system of the directory, nil if the disk has no such directory.
func (d *Dir) raise(fsys afero.Fs) (afero.Fs, error) {
	if f, ok := fsys.(afero.OsFs); ok {
		fsys = &f
	}
	if disk, ok := fsys.(*afero.OsFs); ok && disk != nil {
		if there, err := isDirectory(disk, d.at); err != nil || !there {
			return nil, err
		}
		root, err := rootfs.Open(d.at)
		if err != nil {
			return nil, err
		}
		d.own, d.at = root, "."
		return root, nil
	}
	raised, err := raise.FS(fsys)
	if root, ok := raised.(*rootfs.FS); ok && raised != fsys {
		d.own = root
	}
	return raised, err
}

// isDirectory reports whether a directory of that name exists. A missing name is not an error. A dangling link, or
// anything else, is an error, because a directory is expected there.
func isDirectory(fsys interface {
	afero.Fs
	afero.Lstater
}, name string,
) (bool, error) {
	info, err := fsys.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return true, nil
	case err == nil:
		return false, &fs.PathError{Op: "open", Path: name, Err: names.ErrNotDir}
	case !errors.Is(err, fs.ErrNotExist):
		return false, names.PathError("open", name, err)
	}
	if _, _, none := fsys.LstatIfPossible(name); none == nil {
		return false, names.PathError("open", name, err)
	}
	return false, nil
}

// list reads the names in the directory, which are the real names even if the file system ignores case.
func (d *Dir) list(ctx context.Context, fsys afero.Fs) error {
	f, err := fsys.Open(d.at)
	if err != nil {
		return err
	}
	defer f.Close()
	for n := 0; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		some, err := f.Readdirnames(500)
		for _, file := range some {
			d.add(file)
		}
		if n += len(some); n > MostEntries {
			return fmt.Errorf("it has more than %d entries", MostEntries)
		}
		switch {
		case errors.Is(err, io.EOF), err == nil && len(some) == 0:
			slices.Sort(d.Names)
			return nil
		case err != nil:
			return err
		}
	}
}

// File returns the file for a name in the directory, see [Dir.Has]. It is an error if the name has two files, because
// the name is then ambiguous.
func (d *Dir) File(name string) (string, error) {
	files := slices.Sorted(slices.Values(d.files[name]))
	if len(files) > 1 {
		return files[0], fmt.Errorf("there are %s: remove all but one of them", strings.Join(files, " and "))
	}
	return files[0], nil
}

// Read reads a file that [Dir.File] has returned.
func (d *Dir) Read(ctx context.Context, file string) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	to, err := d.stage.Resolve(path.Join(d.at, file))
	switch {
	case err != nil:
		return nil, err
	case !names.Within(to, d.at):
		return nil, &fs.PathError{Op: "open", Path: file, Err: names.ErrEscape}
	}
	return d.stage.ReadFile(to)
}
