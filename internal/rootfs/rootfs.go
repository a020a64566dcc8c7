// Package rootfs is a file system over one directory of the operating system that nothing leads out of.
package rootfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// FS is an afero.Fs over one directory of the operating system that nothing leads out of: neither "..", nor an
// absolute name, nor a symbolic link, also not one that another process puts there at the wrong moment. It is built on
// [os.Root] and goes by directory handles, so it stays with its directory when that is moved.
//
// Names are canonical as [names.Clean] gives them; others are cleaned, and a "/" at the end asks for a directory.
// Symbolic links are followed while they stay inside, at most eight in a row; an absolute target counts as outside.
// Opening never blocks: a pipe, a socket or a device is [names.ErrNotRegular]. All mode bits of [modes.PermBits] can be
// given and set. Rename replaces what rename(2) of POSIX replaces. Errors match those of this package and those of the
// system, errors.Is(err, ErrNotDir) and errors.Is(err, syscall.ENOTDIR) alike.
//
// Of the optional interfaces it has what the system has: on Linux all of them; on macOS too, but
// [capability.MetaCopier] copies the owner only; on other Unix systems not [capability.Exchanger] and
// [capability.NoReplacer] either; elsewhere [capability.Linker] and [capability.DirOpener].
//
// All methods are safe for concurrent use. The zero RootFs is not usable; make one with [Open] or [raise.FS].
type FS struct {
	root  beneath
	dir   string   // the directory as an absolute name when it was opened, "" if nobody knows
	bases []string // absolute spellings of the directory that Canonical takes for it
}

var (
	_ afero.Fs             = (*FS)(nil)
	_ afero.Symlinker      = (*FS)(nil)
	_ capability.Linker    = (*FS)(nil)
	_ capability.DirOpener = (*FS)(nil)
	_ capability.Namer     = (*FS)(nil)
)

// Open opens the directory, following symbolic links in its name. Close the result when it is no longer needed; one
// that is forgotten is closed when the garbage collector finds it.
func Open(dir string) (*FS, error) {
	root, err := openBeneath(dir)
	if err != nil {
		return nil, names.PathError("open", dir, err)
	}
	r := &FS{root: root}
	r.dir, _ = filepath.Abs(dir)
	return r, nil
}

// Rooted returns r, for whoever holds it embedded.
func (r *FS) Rooted() *FS { return r }

// WithAbsolute returns a view of the same directory that takes the absolute name of something at or below it for the
// name in it, as agents and editors send them: on a RootFs of /home/me/project, /home/me/project/src/a.go is src/a.go.
// It goes by the name that OpenRoot was given, and by that without the symbolic links that were in it; any other
// absolute name is [names.ErrEscape], also another name of the same directory. Results have the names in the directory.
// What names lead to is as confined as before: the absolute target of a symbolic link still counts as outside.
//
// The view and what it was made of share the directory; closing one closes both.
func (r *FS) WithAbsolute() *FS {
	view := *r
	view.bases = nil
	if r.dir != "" {
		view.bases = []string{r.dir}
		if real, err := filepath.EvalSymlinks(r.dir); err == nil && real != r.dir {
			view.bases = append(view.bases, real)
		}
	}
	return &view
}

// Close gives the directory back. Files opened before stay usable, every other call is an error from then on.
func (r *FS) Close() error { return r.root.Close() }

// Name returns "RootFs".
func (r *FS) Name() string { return "RootFs" }

// Canonical implements [capability.Namer]. It is [names.Clean], but on a RootFs that [raise.FS] made of an afero.OsFs,
// and on one of WithAbsolute, an absolute name of something at or below the directory is turned into the relative one,
// and any other absolute name is [names.ErrEscape].
func (r *FS) Canonical(name string) (string, error) {
	if len(r.bases) == 0 || !filepath.IsAbs(name) {
		return names.Clean(name)
	}
	for _, base := range r.bases {
		rel, err := filepath.Rel(base, name)
		if err != nil {
			continue
		}
		if rel = filepath.ToSlash(rel); rel == ".." || strings.HasPrefix(rel, "../") {
			continue
		}
		clean, err := names.Clean(rel)
		if err != nil {
			return "", &fs.PathError{Op: "clean", Path: name, Err: names.FromOS(err)}
		}
		return clean, nil
	}
	return "", &fs.PathError{Op: "clean", Path: name, Err: names.ErrEscape}
}

// name returns the canonical name. One that ends in a slash must not be that of a file.
func (r *FS) name(name string) (string, error) { return r.checked(name, true) }

// linkName is name for operations on a symbolic link itself, which a slash at the end makes an error.
func (r *FS) linkName(name string) (string, error) { return r.checked(name, false) }

func (r *FS) checked(name string, follow bool) (string, error) {
	clean, err := r.Canonical(name)
	if err != nil || !strings.HasSuffix(name, "/") {
		return clean, err
	}
	look := r.root.Lstat
	if follow {
		look = r.root.Stat
	}
	info, err := look(clean)
	switch {
	case err == nil && !info.IsDir():
		return "", syscall.ENOTDIR
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return clean, nil
}

// Stat returns what the name leads to.
func (r *FS) Stat(name string) (fs.FileInfo, error) {
	clean, err := r.name(name)
	if err != nil {
		return nil, names.PathError("stat", name, err)
	}
	info, err := r.root.Stat(clean)
	if err != nil {
		return nil, names.PathError("stat", name, err)
	}
	return info, nil
}

// LstatIfPossible returns what stands at the name, without following a symbolic link there, and true.
func (r *FS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	clean, err := r.name(name)
	if err != nil {
		return nil, true, names.PathError("lstat", name, err)
	}
	info, err := r.root.Lstat(clean)
	if err != nil {
		return nil, true, names.PathError("lstat", name, err)
	}
	return info, true, nil
}

// Mkdir makes a directory. The process's umask applies to the nine lowest bits of perm.
func (r *FS) Mkdir(name string, perm fs.FileMode) error {
	clean, err := r.name(name)
	if err == nil {
		err = r.root.Mkdir(clean, perm.Perm())
	}
	if err == nil {
		err = r.addSpecial(clean, perm)
	}
	return names.PathError("mkdir", name, err)
}

// MkdirAll makes a directory and those above it that are missing. A directory that is there already is no error.
func (r *FS) MkdirAll(name string, perm fs.FileMode) error {
	clean, err := r.name(name)
	if err != nil {
		return names.PathError("mkdir", name, err)
	}
	_, before := r.root.Lstat(clean)
	err = r.root.MkdirAll(clean, perm.Perm())
	switch {
	case errors.Is(err, fs.ErrExist):
		err = syscall.ENOTDIR // only a file can be in the way
	case err == nil && errors.Is(before, fs.ErrNotExist):
		err = r.addSpecial(clean, perm)
	}
	return names.PathError("mkdir", name, err)
}

// addSpecial gives what was just made the setuid, setgid and sticky bits, which os.Root does not take when it makes
// things.
func (r *FS) addSpecial(clean string, perm fs.FileMode) error {
	special := perm & (modes.PermBits &^ fs.ModePerm)
	if special == 0 {
		return nil
	}
	info, err := r.root.Lstat(clean)
	if err != nil {
		return err
	}
	return r.root.Chmod(clean, info.Mode()&modes.PermBits|special)
}

// Remove removes a file, an empty directory or a symbolic link itself.
func (r *FS) Remove(name string) error {
	clean, err := r.linkName(name)
	if err == nil {
		err = notEmpty(r.root.Remove(clean))
	}
	return names.PathError("remove", name, err)
}

// RemoveAll removes what stands at the name with all below it, following no links. Nothing there is no error.
func (r *FS) RemoveAll(name string) error {
	clean, err := r.linkName(name)
	if err == nil {
		err = r.root.RemoveAll(clean)
	}
	return names.PathError("removeall", name, err)
}

// Rename moves a file, a directory or a symbolic link itself, and replaces a file or an empty directory at newname.
func (r *FS) Rename(oldname, newname string) error {
	from, err := r.linkName(oldname)
	if err != nil {
		return names.LinkError("rename", oldname, newname, err)
	}
	to, err := r.Canonical(newname)
	if err == nil && strings.HasSuffix(newname, "/") {
		if info, statErr := r.root.Lstat(from); statErr == nil && !info.IsDir() {
			err = syscall.ENOTDIR // only a directory can get a name that asks for one
		}
	}
	if err == nil {
		err = notEmpty(r.rename(from, to))
	}
	return names.LinkError("rename", oldname, newname, err)
}

// notEmpty gives the one name to what systems report in two ways: that a directory has something in it.
func notEmpty(err error) error {
	if errors.Is(err, fs.ErrExist) && !errors.Is(err, names.ErrNotEmpty) {
		return names.Under(names.ErrNotEmpty, syscall.ENOTEMPTY)
	}
	return err
}

// Chmod sets the permission bits of what the name leads to.
func (r *FS) Chmod(name string, mode fs.FileMode) error {
	clean, err := r.name(name)
	if err == nil {
		err = r.root.Chmod(clean, mode)
	}
	return names.PathError("chmod", name, err)
}

// Chown sets the owner and group of what the name leads to; -1 leaves one as it is.
func (r *FS) Chown(name string, uid, gid int) error {
	clean, err := r.name(name)
	if err == nil {
		err = r.root.Chown(clean, uid, gid)
	}
	return names.PathError("chown", name, err)
}

// Chtimes sets the times of what the name leads to; a zero time leaves one as it is.
func (r *FS) Chtimes(name string, atime, mtime time.Time) error {
	clean, err := r.name(name)
	if err == nil {
		err = r.root.Chtimes(clean, atime, mtime)
	}
	return names.PathError("chtimes", name, err)
}

// SymlinkIfPossible makes a symbolic link at newname. The target is written as it is given, inside or not, there or
// not; only following it is refused if it leads out.
func (r *FS) SymlinkIfPossible(target, newname string) error {
	clean, err := r.linkName(newname)
	if err == nil {
		err = r.root.Symlink(target, clean)
	}
	return names.LinkError("symlink", target, newname, err)
}

// ReadlinkIfPossible returns the target of a symbolic link as it was written.
func (r *FS) ReadlinkIfPossible(name string) (string, error) {
	clean, err := r.linkName(name)
	if err != nil {
		return "", names.PathError("readlink", name, err)
	}
	target, err := r.root.Readlink(clean)
	return target, names.PathError("readlink", name, err)
}

// Link implements [capability.Linker]. Where the mount has no hard links or the system does not let one make this one,
// the error matches errors.ErrUnsupported, and the caller may copy instead.
func (r *FS) Link(oldname, newname string) error {
	from, err := r.linkName(oldname)
	if err != nil {
		return names.LinkError("link", oldname, newname, err)
	}
	to, err := r.linkName(newname)
	if err == nil {
		err = names.UnsupportedIf(names.FromOS(r.root.Link(from, to)), syscall.EPERM, syscall.EMLINK, syscall.ENOSYS, syscall.ENOTSUP)
	}
	return names.LinkError("link", oldname, newname, err)
}
