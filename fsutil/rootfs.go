package fsutil

import (
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

type root = rootfs.FS

// RootFs is an [afero.Fs] over a directory of the operating system. Nothing leads out of it: neither "..", nor an
// absolute name, nor a symbolic link, even if another process makes the link at the wrong moment. It is built on
// [os.Root] and uses directory handles, so it still works after its directory is moved.
//
// It has all methods of afero.Fs and afero.Symlinker. Names are in the canonical form of [Clean]; other names are
// cleaned, and a "/" at the end requires a directory. Symbolic links are followed while they stay inside, at most eight
// in a row; an absolute target counts as outside. Opening never blocks: a pipe, a socket or a device is
// [ErrNotRegular]. All permission bits can be set, including setuid, setgid and the sticky bit. Rename replaces the
// same files as rename(2) of POSIX. Errors match both the errors of this package and the errors of the system:
// errors.Is(err, ErrNotDir) and errors.Is(err, syscall.ENOTDIR).
//
// It has the interfaces of package capability that the system supports: on Linux all except Volatile; on macOS the
// same, but MetaCopier copies only the owner; on other Unix systems neither Exchanger nor NoReplacer; elsewhere Linker,
// Namer and DirOpener, and on Windows FileLocker.
//
// All methods are safe for concurrent use. The zero RootFs is not usable; make one with [OpenRoot] or [Raise].
type RootFs struct{ *root }

// OpenRoot opens the directory, following symbolic links in its name. Close the result after use; a result that is not
// closed is closed by the garbage collector.
func OpenRoot(dir string) (*RootFs, error) {
	r, err := rootfs.Open(dir)
	if err != nil {
		return nil, err
	}
	return &RootFs{r}, nil
}

// WithAbsolute returns a view of the same directory that also accepts absolute names of paths at or below it, as agents
// and editors send them: on a RootFs of /home/me/project, /home/me/project/src/a.go is src/a.go. The directory is
// recognized by the name given to OpenRoot, by that name with its symbolic links resolved, and by each name that leads
// to the directory through links; any other absolute name is [ErrEscape]. Results have names relative to the directory.
// Names are as confined as before: the absolute target of a symbolic link still counts as outside.
//
// The view and the original share the directory; closing one closes both.
func (r *RootFs) WithAbsolute() *RootFs { return &RootFs{r.root.WithAbsolute()} }

// Close closes the directory. Files opened before stay usable; every other call is an error from then on.
func (r *RootFs) Close() error { return r.root.Close() }

// Name returns "RootFs".
func (r *RootFs) Name() string { return r.root.Name() }

// Raise returns a view of a file system that has all its real abilities as interfaces of package capability, and that
// follows the rules of POSIX even if the original is known not to. It reads a little and writes nothing.
//
//   - A nil file system, also a nil pointer, is an error; it never means the real disk.
//   - A [RootFs], and any other file system with an interface of package capability, is returned unchanged.
//   - An afero.OsFs becomes a [RootFs] of the present working directory. Absolute names of paths in it are
//     accepted, any other absolute name is [ErrEscape].
//   - An afero.BasePathFs that is over an afero.OsFs becomes a [RootFs] of its directory. Otherwise it would follow
//     symbolic links out of the directory. If the directory cannot be opened, or if it is over another file system, it
//     is returned unchanged: the layers between may have a purpose, such as access rules or logging.
//   - An afero.MemMapFs gets the rules of POSIX and a mutex around each call. "/a" and "a" are one file there. Raise it
//     once and share the result; concurrent direct use of the MemMapFs is not guarded.
//   - Any other file system is returned with a capability.Namer for which a slash at the beginning of a name means the
//     root of the tree.
//
// A RootFs from Raise holds open files until it is closed, or until the garbage collector finds that it is unused. To
// close it, use the result as an io.Closer, unless it is the given file system.
func Raise(fsys afero.Fs) (afero.Fs, error) {
	raised, err := raise.FS(fsys)
	if r, ok := raised.(*rootfs.FS); ok {
		return &RootFs{r}, nil
	}
	return raised, err
}
