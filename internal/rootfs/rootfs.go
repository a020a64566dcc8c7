// Package rootfs is a file system over one directory of the operating system that nothing leads out of.
package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// FS is an afero.Fs over one directory of the operating system that nothing leads out of. fsutil.RootFs documents its
// promises about names, links and errors, and its optional interfaces. Make one with [Open].
type FS struct {
	root  beneath
	dir   string   // the absolute name of the directory when it was opened, "" if unknown
	bases []string // absolute names of the directory that Canonical accepts
}

var (
	_ afero.Fs             = (*FS)(nil)
	_ afero.Symlinker      = (*FS)(nil)
	_ capability.Linker    = (*FS)(nil)
	_ capability.DirOpener = (*FS)(nil)
	_ capability.Namer     = (*FS)(nil)
)

// Open opens the directory, following symbolic links in its name. Close the result after use; a result that is not
// closed is closed by the garbage collector.
func Open(dir string) (*FS, error) {
	root, err := openBeneath(dir)
	if err != nil {
		return nil, names.PathError("open", dir, err)
	}
	r := &FS{root: root}
	r.dir, _ = filepath.Abs(dir)
	return r, nil
}

// Rooted returns r, for a type that embeds it.
func (r *FS) Rooted() *FS { return r }

// Dir returns the directory as an absolute name without symbolic links, "" if the name is unknown.
func (r *FS) Dir() string {
	if r.dir == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		return ""
	}
	return real
}

// WithAbsolute returns a view of the same directory that accepts absolute names below it, see fsutil.RootFs.
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

// Close closes the directory. Files opened before stay usable. Every other call returns an error from then on.
func (r *FS) Close() error { return r.root.Close() }

// Name returns "RootFs".
func (r *FS) Name() string { return "RootFs" }

// Canonical implements [capability.Namer]. It is [names.Clean], except on a RootFs that [raise.FS] made of an
// afero.OsFs, and on a RootFs of WithAbsolute. There an absolute name at or below the directory, also through links,
// becomes the relative name. Any other absolute name is [names.ErrEscape].
func (r *FS) Canonical(name string) (string, error) {
	if len(r.bases) == 0 || !filepath.IsAbs(name) {
		return names.Clean(name)
	}
	rel, ok := below(r.bases, name)
	if !ok {
		rel, ok = r.throughLinks(name)
	}
	if !ok {
		return "", names.PathError("clean", name, names.ErrEscape)
	}
	clean, err := names.Clean(filepath.ToSlash(rel))
	return clean, names.PathError("clean", name, err)
}

// below returns an absolute name relative to the first of the directories that contains it.
func below(dirs []string, name string) (string, bool) {
	for _, dir := range dirs {
		rel, err := filepath.Rel(dir, name)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return rel, true
		}
	}
	return "", false
}

// throughLinks returns an absolute name relative to the directory, if a part of the name leads there through links that
// are on the way to the directory.
func (r *FS) throughLinks(name string) (string, bool) {
	top, err := r.root.Stat(".")
	if err != nil {
		return "", false
	}
	name = filepath.Clean(name)
	for end := len(filepath.VolumeName(name)) + 1; end <= len(name); end++ {
		if end < len(name) && !os.IsPathSeparator(name[end]) {
			continue
		}
		info, err := os.Stat(name[:end])
		if err != nil {
			return "", false
		}
		if os.SameFile(info, top) {
			return filepath.Join(".", name[end:]), true
		}
	}
	return "", false
}

// Inside returns the canonical name for an absolute name of the system, "" if it is not in the directory. It compares
// only the text of the names.
func (r *FS) Inside(absolute string) string {
	if r.dir == "" {
		return ""
	}
	dirs := []string{r.dir}
	if real := r.Dir(); real != "" && real != r.dir {
		dirs = append(dirs, real)
	}
	rel, ok := below(dirs, filepath.FromSlash(absolute))
	if !ok {
		return ""
	}
	clean, err := names.Clean(filepath.ToSlash(rel))
	if err != nil {
		return ""
	}
	return clean
}

// checked returns the canonical name. A slash at its end means that the name must not be a file, nor, where links are
// not followed, a link.
func (r *FS) checked(name string, follow bool) (string, error) {
	clean, err := r.Canonical(name)
	if err != nil || !strings.HasSuffix(name, "/") {
		return clean, err
	}
	stat := r.root.Lstat
	if follow {
		stat = r.root.Stat
	}
	info, err := stat(clean)
	switch {
	case err == nil && !info.IsDir():
		return "", syscall.ENOTDIR
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return clean, nil
}

// checkEntryName returns an error if the name of a directory entry is not a single part of a path.
func checkEntryName(name string) error {
	if _, err := names.Clean(name); err != nil || names.IsPlain(name) {
		return err
	}
	return names.ErrEscape
}

// do calls act with the canonical name, for operations that follow a link at the name.
func (r *FS) do(op, name string, act func(clean string) error) error {
	clean, err := r.checked(name, true)
	if err == nil {
		err = act(clean)
	}
	return names.PathError(op, name, err)
}

// doLink is do for operations on a symbolic link itself.
func (r *FS) doLink(op, name string, act func(clean string) error) error {
	clean, err := r.checked(name, false)
	if err == nil {
		err = act(clean)
	}
	return names.PathError(op, name, err)
}

// doTwo is doLink for two names.
func (r *FS) doTwo(op, oldname, newname string, act func(from, to string) error) error {
	from, err := r.checked(oldname, false)
	to := ""
	if err == nil {
		to, err = r.checked(newname, false)
	}
	if err == nil {
		err = act(from, to)
	}
	return names.LinkError(op, oldname, newname, err)
}

// Stat returns the attributes of the file that the name leads to.
func (r *FS) Stat(name string) (info fs.FileInfo, err error) {
	err = r.do("stat", name, func(clean string) (err error) {
		info, err = r.root.Stat(clean)
		return err
	})
	return info, err
}

// LstatIfPossible returns the attributes of the file at the name, without following a symbolic link there, and true.
func (r *FS) LstatIfPossible(name string) (info fs.FileInfo, possible bool, err error) {
	err = r.do("lstat", name, func(clean string) (err error) {
		info, err = r.root.Lstat(clean)
		return err
	})
	return info, true, err
}

// Mkdir makes a directory. The process's umask applies to the nine lowest bits of perm.
func (r *FS) Mkdir(name string, perm fs.FileMode) error {
	return r.do("mkdir", name, func(clean string) error {
		if err := r.root.Mkdir(clean, perm.Perm()); err != nil {
			return err
		}
		return r.addSpecial(clean, perm)
	})
}

// MkdirAll makes a directory and the missing directories above it. An existing directory is not an error.
func (r *FS) MkdirAll(name string, perm fs.FileMode) error {
	return r.do("mkdir", name, func(clean string) error {
		_, before := r.root.Lstat(clean)
		err := r.root.MkdirAll(clean, perm.Perm())
		switch {
		case errors.Is(err, fs.ErrExist):
			return syscall.ENOTDIR // only a file can block the name
		case err == nil && errors.Is(before, fs.ErrNotExist):
			return r.addSpecial(clean, perm)
		}
		return err
	})
}

// addSpecial sets the setuid, setgid and sticky bits of a new file or directory, which os.Root refuses when it makes
// the file.
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
	return r.doLink("remove", name, func(clean string) error { return notEmpty(r.root.Remove(clean)) })
}

// RemoveAll removes the name with everything below it, following no links. A missing name is not an error.
func (r *FS) RemoveAll(name string) error { return r.doLink("removeall", name, r.root.RemoveAll) }

// Rename moves a file, a directory or a symbolic link itself, and replaces a file or an empty directory at newname.
func (r *FS) Rename(oldname, newname string) error {
	return r.doTwo("rename", oldname, newname, func(from, to string) error {
		if strings.HasSuffix(newname, "/") {
			if info, err := r.root.Lstat(from); err == nil && !info.IsDir() {
				return syscall.ENOTDIR // only a directory can get a name that requires a directory
			}
		}
		return notEmpty(r.rename(from, to))
	})
}

// notEmpty unifies the two errors that systems report for a directory that is not empty.
func notEmpty(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return syscall.ENOTEMPTY
	}
	return err
}

// Chmod sets the permission bits of the file that the name leads to.
func (r *FS) Chmod(name string, mode fs.FileMode) error {
	return r.do("chmod", name, func(clean string) error { return r.root.Chmod(clean, mode) })
}

// Chown sets the owner and group of the file that the name leads to; -1 keeps the old value.
func (r *FS) Chown(name string, uid, gid int) error {
	return r.do("chown", name, func(clean string) error { return r.root.Chown(clean, uid, gid) })
}

// Chtimes sets the times of the file that the name leads to; a zero time keeps the old value.
func (r *FS) Chtimes(name string, atime, mtime time.Time) error {
	return r.do("chtimes", name, func(clean string) error { return r.root.Chtimes(clean, atime, mtime) })
}

// SymlinkIfPossible makes a symbolic link at newname. The target is written unchanged: it may be outside or missing. A
// link that leads out is only refused when it is followed.
func (r *FS) SymlinkIfPossible(target, newname string) error {
	clean, err := r.checked(newname, false)
	if err == nil {
		err = r.root.Symlink(target, clean)
	}
	return names.LinkError("symlink", target, newname, err)
}

// ReadlinkIfPossible returns the target of a symbolic link as it was written.
func (r *FS) ReadlinkIfPossible(name string) (target string, err error) {
	err = r.doLink("readlink", name, func(clean string) (err error) {
		target, err = r.root.Readlink(clean)
		return err
	})
	return target, err
}

// Link implements [capability.Linker]. If the mount has no hard links or the system refuses this link, the error
// matches errors.ErrUnsupported, and the caller may copy instead.
func (r *FS) Link(oldname, newname string) error {
	return r.doTwo("link", oldname, newname, func(from, to string) error {
		err := names.FromOS(r.root.Link(from, to))
		return names.UnsupportedIf(err, syscall.EPERM, syscall.EMLINK, syscall.ENOSYS, syscall.ENOTSUP)
	})
}
