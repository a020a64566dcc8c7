package actions

import (
	"context"
	"path"
	"slices"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// patchPlaces are places where files will be put.
type patchPlaces struct {
	at    map[string]bool
	above map[string]bool // the directories that they are in
}

func (p patchPlaces) add(place string) {
	p.at[place] = true
	for dir := path.Dir(place); dir != "." && dir != "/" && !p.above[dir]; dir = path.Dir(dir) {
		p.above[dir] = true
	}
}

// need reports whether a file has to leave its place first, because another file comes there, or below it, or in place
// of one of its directories.
func (p patchPlaces) need(place string) bool {
	return p.above[place] || p.beside(place) != place || p.at[place]
}

// beside returns a name whose directory can hold a temporary file: the place, or the highest directory above it that
// becomes a file.
func (p patchPlaces) beside(place string) string {
	for dir := path.Dir(place); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if p.at[dir] {
			place = dir
		}
	}
	return place
}

// clear removes a directory that contains only directories. A file in it is an error.
func (w *patching) clear(ctx context.Context, dir string) error {
	all := []string{dir}
	for i := 0; i < len(all); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := afero.ReadDir(w.c.FS, all[i])
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.IsDir() {
				return fsutil.ErrIsDir
			}
			all = append(all, path.Join(all[i], e.Name()))
		}
	}
	for _, name := range slices.Backward(all) {
		if err := w.c.FS.Remove(name); err != nil {
			return err
		}
	}
	return nil
}
