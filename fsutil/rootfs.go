package fsutil

import (
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

type root = rootfs.FS

// RootFs is an [afero.Fs] over a directory of the operating system. Nothing leads out of it: neither "..", nor an
// absolute name, nor a symbolic link, even if another process makes the link at the wrong moment. It is built on
// [os.Root] and uses directory handles, so it follows its directory when that is moved.
//
// It has all methods of afero.Fs and afero.Symlinker. Names are canonical as [Clean] gives them; others are cleaned,
// and a "/" at the end asks for a directory. Symbolic links are followed while they stay inside, at most eight in a
// row; an absolute target counts as outside. Opening never blocks: a pipe, a socket or a device is [ErrNotRegular]. All
// permission bits can be given and set, with setuid, setgid and the sticky bit. Rename replaces what rename(2) of POSIX
// replaces. Errors match those of this package and those of the system, errors.Is(err, ErrNotDir) and errors.Is(err,
// syscall.ENOTDIR) alike.
//
// Of the interfaces of package capability it has what the system has: on Linux all but Volatile; on macOS the same, but
// MetaCopier copies the owner only; on other Unix systems neither Exchanger nor NoReplacer; elsewhere Linker, Namer and
// DirOpener, and on Windows FileLocker.
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

// WithAbsolute returns a view of the same directory that takes the absolute name of something at or below it for the
// name in it, as agents and editors send them: on a RootFs of /home/me/project, /home/me/project/src/a.go is src/a.go.
// It goes by the name that OpenRoot was given, by that without the symbolic links that were in it, and by each name
// that leads to the directory through links; any other absolute name is [ErrEscape]. Results have the names in the
// directory. The targets of names are as confined as before: the absolute target of a symbolic link still counts as
// outside.
//
// The view and what it was made of share the directory; closing one closes both.
func (r *RootFs) WithAbsolute() *RootFs { return &RootFs{r.root.WithAbsolute()} }

// Close gives the directory back. Files opened before stay usable, every other call is an error from then on.
func (r *RootFs) Close() error { return r.root.Close() }

// Name returns "RootFs".
func (r *RootFs) Name() string { return r.root.Name() }

// Raise returns a view of a file system that is able to do all that the one given really can, for the interfaces of
// package capability, and that keeps the rules of POSIX where the one given is known not to. It reads a little and
// writes nothing.
//
//   - A nil file system, also a nil pointer, is an error; it never stands for the real disk.
//   - A [RootFs], and whatever else has an interface of package capability, is returned as it is.
//   - An afero.OsFs becomes a [RootFs] of the working directory as it is now. Absolute names of what is in it are
//     taken, any other is [ErrEscape].
//   - An afero.BasePathFs that is over an afero.OsFs becomes a [RootFs] of its directory. By itself it would follow
//     symbolic links out of it. If the directory cannot be opened, or if it is over anything else, it is returned as it
//     is: what lies between may be there to forbid or to log.
//   - An afero.MemMapFs gets the rules of POSIX and a mutex around each call. "/a" and "a" are one file there. Raise it
//     once and share the result; what is done to the MemMapFs directly at the same time is not guarded.
//   - Any other file system is returned with a capability.Namer for which a slash at the beginning of a name stands for
//     the root of the tree.
//
// A RootFs that Raise has made holds open files until it is closed, or until the garbage collector finds that it is not
// used any more. To close it, ask the result for an io.Closer, unless it is the file system that was given.
func Raise(fsys afero.Fs) (afero.Fs, error) {
	raised, err := raise.FS(fsys)
	if r, ok := raised.(*rootfs.FS); ok {
		return &RootFs{r}, nil
	}
	return raised, err
}
