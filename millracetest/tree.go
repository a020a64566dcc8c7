package millracetest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// Tree returns a file system with the files of a text, see the package comment for its form. The file system is in
// memory. A text with symbolic links gets a temporary directory that is confined as by [fsutil.OpenRoot], because file
// systems in memory have no links. A wrong text stops the test.
func Tree(t testing.TB, txtar string) afero.Fs {
	t.Helper()
	all, err := parseTree(txtarfs.Parse([]byte(txtar)).Files)
	if err != nil {
		t.Fatalf("millracetest: the text of the tree: %v", err)
	}
	return plantNew(t, all)
}

// Plant writes the files of a text, in the form of [Tree], into a file system.
func Plant(t testing.TB, fsys afero.Fs, txtar string) {
	t.Helper()
	all, err := parseTree(txtarfs.Parse([]byte(txtar)).Files)
	if err != nil {
		t.Fatalf("millracetest: the text of the tree: %v", err)
	}
	plant(t, fsys, all)
}

// Equal fails the test with the difference if a tree differs from a text. The state directory
// (millrace.DefaultStateDir) is not compared. A file without a mode in the text may have any mode that lets its owner
// read and write and lets nobody execute. A directory is compared if it is empty or in the text.
func Equal(t testing.TB, fsys afero.Fs, txtar string) {
	t.Helper()
	want, err := parseTree(txtarfs.Parse([]byte(txtar)).Files)
	if err != nil {
		t.Fatalf("millracetest: the text of the tree: %v", err)
	}
	if diff := diffTree(t, fsys, want); diff != "" {
		t.Errorf("the tree is another (-want +got):\n%s", diff)
	}
}

// Text returns a tree as a text for [Tree] and [Equal], without the state directory.
func Text(t testing.TB, fsys afero.Fs) string {
	t.Helper()
	text, err := formatTree(prune(readTree(t, fsys, millrace.DefaultStateDir), nil), "", never)
	if err != nil {
		t.Fatalf("millracetest: %v", err)
	}
	return text
}

// FromDir returns a copy of a directory of the system, such as "testdata/project". The file system is as in [Tree].
// Nothing is left out, so name a directory without a git repository in it.
func FromDir(t testing.TB, dir string) afero.Fs {
	t.Helper()
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatalf("millracetest: %v", err)
	}
	defer root.Close()
	return plantNew(t, readTree(t, root, ""))
}

func never(string) bool { return false }

// plantNew writes the entries into a new file system.
func plantNew(t testing.TB, all []entry) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	if slices.ContainsFunc(all, func(e entry) bool { return e.link != "" }) {
		root, err := fsutil.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatalf("millracetest: %v", err)
		}
		t.Cleanup(func() { root.Close() })
		fsys = root
	}
	plant(t, fsys, all)
	return fsys
}

// plant writes the entries. It sets the modes of directories last, because a directory may not be writable.
func plant(t testing.TB, fsys afero.Fs, all []entry) {
	t.Helper()
	for _, e := range all {
		if err := e.plant(fsys); err != nil {
			t.Fatalf("millracetest: %v", err)
		}
	}
	for _, e := range slices.Backward(all) {
		if e.dir && e.said {
			if err := fsys.Chmod(e.name, e.mode); err != nil {
				t.Fatalf("millracetest: %v", err)
			}
		}
	}
}

func (e entry) plant(fsys afero.Fs) error {
	if e.dir {
		return fsys.MkdirAll(e.name, dirMode)
	}
	if dir := path.Dir(e.name); dir != "." {
		if err := fsys.MkdirAll(dir, dirMode); err != nil {
			return err
		}
	}
	if e.link != "" {
		linker, ok := fsys.(afero.Linker)
		if !ok {
			return fmt.Errorf("%s has no symbolic links", fsys.Name())
		}
		return linker.SymlinkIfPossible(e.link, e.name)
	}
	if err := afero.WriteFile(fsys, e.name, e.data, e.mode); err != nil {
		return err
	}
	// The umask of the process may have removed bits of the mode.
	if info, err := fsys.Stat(e.name); err == nil && info.Mode().Perm() == e.mode {
		return nil
	}
	return fsys.Chmod(e.name, e.mode)
}

// readTree returns all entries below the root, except those in the directory without, in path order.
func readTree(t testing.TB, fsys afero.Fs, without string) []entry {
	t.Helper()
	all, err := readDir(fsys, "", without)
	if err != nil {
		t.Fatalf("millracetest: the tree cannot be read: %v", err)
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return all
}

func readDir(fsys afero.Fs, dir, without string) ([]entry, error) {
	infos, err := afero.ReadDir(fsys, path.Clean(dir))
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, info := range infos {
		e := entry{name: path.Join(dir, info.Name()), mode: info.Mode().Perm(), dir: info.IsDir()}
		if e.name == without {
			continue
		}
		switch {
		case e.dir:
			below, err := readDir(fsys, e.name, without)
			if err != nil {
				return nil, err
			}
			all = append(all, below...)
		case info.Mode()&fs.ModeSymlink != 0:
			reader, ok := fsys.(afero.LinkReader)
			if !ok {
				return nil, &fs.PathError{Op: "readlink", Path: e.name, Err: errors.ErrUnsupported}
			}
			if e.link, err = reader.ReadlinkIfPossible(e.name); err != nil {
				return nil, err
			}
		case info.Mode().IsRegular():
			if e.data, err = afero.ReadFile(fsys, e.name); err != nil {
				return nil, err
			}
		default:
			return nil, &fs.PathError{Op: "read", Path: e.name, Err: fmt.Errorf("%v is not supported", info.Mode())}
		}
		all = append(all, e)
	}
	return all, nil
}

// prune leaves out the directories that contain entries, unless they are among the wanted entries.
func prune(all, want []entry) []entry {
	full, wanted := make(map[string]bool), make(map[string]bool)
	for _, e := range all {
		full[path.Dir(e.name)] = true
	}
	for _, e := range want {
		wanted[e.name] = e.dir
	}
	return slices.DeleteFunc(all, func(e entry) bool { return e.dir && full[e.name] && !wanted[e.name] })
}

// diffTree returns the difference between a tree and the wanted entries, "" if they are equal.
func diffTree(t testing.TB, fsys afero.Fs, want []entry, state ...string) string {
	t.Helper()
	without := millrace.DefaultStateDir
	if len(state) > 0 && state[0] != "" {
		without = state[0]
	}
	return diffEntries(want, prune(readTree(t, fsys, without), want))
}

// diffEntries compares entries. Modes that the wanted text names are compared exactly.
func diffEntries(want, got []entry) string {
	said := make(map[string]bool)
	for _, e := range want {
		said[e.name] = e.said
	}
	withMode := func(name string) bool { return said[name] }
	wanted, err1 := formatTree(want, "", withMode)
	found, err2 := formatTree(got, "", withMode)
	if err := errors.Join(err1, err2); err != nil {
		return err.Error()
	}
	return cmp.Diff(wanted, found)
}
