package rundir

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/raise"
)

// checkPlace refuses a tree that contains the store, unless the store is in a state directory: steps would see the
// runs, and could change them.
func (m *Manager) checkPlace(tree afero.Fs) error {
	at, inside := m.store.within(tree)
	if !inside {
		return nil
	}
	state := path.Clean(cmp.Or(m.host.Executor.State.Dir, millrace.DefaultStateDir))
	for below := at; ; {
		// No step can access a state directory, at any depth of the tree.
		if names.Within(below, state) && below != state ||
			names.Within(below, millrace.DefaultStateDir) && below != millrace.DefaultStateDir {
			return nil
		}
		_, rest, more := strings.Cut(below, "/")
		if !more {
			break
		}
		below = rest
	}
	return fmt.Errorf("the store of runs lies in the tree at '%s', where steps reach it: "+
		"it has to be outside, or below '%s'", at, state)
}

// within returns the place of the store in a tree, if it can be determined: for directories of the operating system,
// and for a file system that contains both.
func (s *Store) within(tree afero.Fs) (at string, inside bool) {
	if t := reflect.TypeOf(tree); t != nil && t.Comparable() && tree == s.given {
		return s.dir, true
	}
	of, store := dirOf(tree), dirOf(s.given)
	if of == "" || store == "" {
		return "", false
	}
	root, err := os.Stat(of)
	if err != nil {
		return "", false
	}
	store = filepath.Join(store, filepath.FromSlash(s.dir))
	for dir := store; ; {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, root) {
			rel, err := filepath.Rel(dir, store)
			return filepath.ToSlash(rel), err == nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// dirOf returns the directory of the operating system of a file system, "" without such a directory.
func dirOf(fsys afero.Fs) string {
	raised, err := raise.FS(fsys)
	if err != nil {
		return ""
	}
	dir := ""
	if root, ok := raised.(interface{ Dir() string }); ok {
		dir = root.Dir()
	}
	if c, ok := raised.(io.Closer); ok && raised != fsys {
		_ = c.Close() // it was opened here, and nothing was written
	}
	return dir
}
