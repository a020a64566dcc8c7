package hostile_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// foldFs is a RootFs that takes names for one that differ by case only, or by how an accent is written, and keeps the
// spelling that was first, as the file systems of macOS and Windows do, and ext4 in a directory with the flag +F.
type foldFs struct{ *fsutil.RootFs }

// FastPath gives none, which would lead past the methods below.
func (foldFs) FastPath() fsutil.FastPath { return nil }

// fold is what names that are one have in common. It knows one accent, which is enough for tests.
func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "e\u0301", "\u00e9") }

// spelled returns the name as the directories have it, with its last part as it is given if there is no such thing.
func (f foldFs) spelled(name string) string {
	clean, err := fsutil.Clean(name)
	if err != nil || clean == "." {
		return name
	}
	at := "."
	for part := range strings.SplitSeq(clean, "/") {
		at = path.Join(at, f.entry(at, part))
	}
	return at
}

func (f foldFs) entry(dir, part string) string {
	d, err := f.RootFs.Open(dir)
	if err != nil {
		return part
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	if i := slices.IndexFunc(names, func(n string) bool { return fold(n) == fold(part) }); i >= 0 {
		return names[i]
	}
	return part
}

// target is the name that a rename gives: the old spelling of what it replaces, the new one of what it moves.
func (f foldFs) target(from, to string) string {
	if at := f.spelled(to); at != f.spelled(from) {
		return at
	}
	return path.Join(path.Dir(f.spelled(to)), path.Base(to))
}

func (f foldFs) Create(n string) (afero.File, error)    { return f.RootFs.Create(f.spelled(n)) }
func (f foldFs) Mkdir(n string, m os.FileMode) error    { return f.RootFs.Mkdir(f.spelled(n), m) }
func (f foldFs) MkdirAll(n string, m os.FileMode) error { return f.RootFs.MkdirAll(f.spelled(n), m) }
func (f foldFs) Open(n string) (afero.File, error)      { return f.RootFs.Open(f.spelled(n)) }
func (f foldFs) OpenFile(n string, flag int, m os.FileMode) (afero.File, error) {
	return f.RootFs.OpenFile(f.spelled(n), flag, m)
}
func (f foldFs) OpenDir(n string) (fsutil.DirHandle, error) { return f.RootFs.OpenDir(f.spelled(n)) }
func (f foldFs) Remove(n string) error                      { return f.RootFs.Remove(f.spelled(n)) }
func (f foldFs) RemoveAll(n string) error                   { return f.RootFs.RemoveAll(f.spelled(n)) }
func (f foldFs) Rename(a, b string) error                   { return f.RootFs.Rename(f.spelled(a), f.target(a, b)) }
func (f foldFs) Stat(n string) (os.FileInfo, error)         { return f.RootFs.Stat(f.spelled(n)) }
func (f foldFs) Name() string                               { return "folding" }
func (f foldFs) Chmod(n string, m os.FileMode) error        { return f.RootFs.Chmod(f.spelled(n), m) }
func (f foldFs) Chown(n string, u, g int) error             { return f.RootFs.Chown(f.spelled(n), u, g) }
func (f foldFs) Chtimes(n string, a, m time.Time) error     { return f.RootFs.Chtimes(f.spelled(n), a, m) }
func (f foldFs) SymlinkIfPossible(a, b string) error {
	return f.RootFs.SymlinkIfPossible(a, f.spelled(b))
}
func (f foldFs) ReadlinkIfPossible(n string) (string, error) {
	return f.RootFs.ReadlinkIfPossible(f.spelled(n))
}
func (f foldFs) LstatIfPossible(n string) (os.FileInfo, bool, error) {
	return f.RootFs.LstatIfPossible(f.spelled(n))
}
