package scratch

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"strings"

	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// isDeep reports whether what is in a directory of that name is too far down to be looked at by name. A program that
// goes on making directories in directories gets there.
func isDeep(name string) bool {
	const deepest, longest = 128, names.MaxPath - names.MaxName - 1
	return strings.Count(name, "/") >= deepest || len(name) > longest
}

func readDir(fsys *rootfs.FS, name string) ([]fs.DirEntry, error) { return handle.ReadDir(fsys, name) }

// wipe removes what stands at the name with all below it, also what its owner may not write to, following no links.
// Nothing there is no error.
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
	case info.Mode()&0o700 != 0o700:
		if err := fsys.Chmod(name, 0o700); err != nil {
			return err
		}
	}
	if isDeep(name) {
		up := rand.Text()
		if err := fsys.Rename(name, up); err != nil {
			return err
		}
		name = up
	}
	items, err := readDir(fsys, name)
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := wipe(ctx, fsys, names.Join(name, item.Name())); err != nil {
			return err
		}
	}
	return fsys.Remove(name)
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
