package scratch

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// isDeep reports whether the entries of a directory are too deep to be read by name. A program can make such deep
// directories.
func isDeep(name string) bool {
	const deepest, longest = 128, names.MaxPath - names.MaxName - 1
	return strings.Count(name, "/") >= deepest || len(name) > longest
}

func readDir(fsys *rootfs.FS, name string) ([]fs.DirEntry, error) { return handle.ReadDir(fsys, name) }

// wipe removes the file or directory at the name with all below it, also parts that its owner may not write to,
// following no links. A missing file is not an error. Several directories are worked on at a time.
func wipe(ctx context.Context, fsys *rootfs.FS, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := fsys.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	info, _, lerr := fsys.LstatIfPossible(name)
	switch {
	case errors.Is(lerr, fs.ErrNotExist):
		return nil
	case lerr != nil || !info.IsDir():
		return err
	}
	var dirs []string // those above others first
	for level := []string{name}; len(level) > 0; {
		below := make([][]string, len(level))
		err := parallel.Each(ctx, workers(), len(level), func(i int) (err error) {
			level[i], below[i], err = strip(ctx, fsys, level[i])
			return err
		})
		if err != nil {
			return err
		}
		dirs = append(dirs, level...)
		level = slices.Concat(below...)
	}
	for _, dir := range slices.Backward(dirs) {
		if err := fsys.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// strip removes the files and links in a directory, and returns the names of the directories in it. A directory that is
// too far down is moved up first: now is its name afterwards.
func strip(ctx context.Context, fsys *rootfs.FS, name string) (now string, dirs []string, err error) {
	info, _, err := fsys.LstatIfPossible(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return name, nil, nil
	case err != nil || !info.IsDir():
		return name, nil, err
	case info.Mode()&0o700 != 0o700:
		if err := fsys.Chmod(name, 0o700); err != nil {
			return name, nil, err
		}
	}
	if isDeep(name) {
		up := rand.Text()
		if err := fsys.Rename(name, up); err != nil {
			return name, nil, err
		}
		name = up
	}
	items, err := readDir(fsys, name)
	if err != nil {
		return name, nil, err
	}
	here, done := fsys.Holding(name)
	defer done()
	for _, item := range items {
		at := names.Join(name, item.Name())
		if item.IsDir() {
			dirs = append(dirs, at)
		} else if err := wipe(ctx, here, at); err != nil {
			return name, nil, err
		}
	}
	return name, dirs, nil
}

// empty removes all that is in a directory.
func empty(ctx context.Context, fsys *rootfs.FS, name string) error {
	items, err := readDir(fsys, name)
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := wipe(ctx, fsys, names.Join(name, item.Name())); err != nil {
			return err
		}
	}
	return nil
}
