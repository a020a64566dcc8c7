package fsutil

import (
	"io"
	"os"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/stage"
)

var _ interface {
	afero.Fs
	afero.Symlinker
} = (*Stage)(nil)

// Stage is a copy-on-write file system over a base that it never writes to. It is an [afero.Fs] with symbolic links and
// enforces the rules of POSIX itself. It can be rolled back to any [Savepoint], and returns the difference from the
// base as a list of [Change]s.
//
// The stage relies on its first read of a base file: if the size or the time of the file differs later, reading fails
// with [ErrDrift]. An edited file is held as splices over its base, a removed or renamed directory as one entry. Files
// written as a whole are held in memory and, beyond a total of 64 MiB, in a temporary file that [Stage.Close] removes.
//
// Names are relative to the root of the tree, see [Clean]; on a base that is a capability.Namer, absolute names may be
// accepted too. The stage resolves symbolic links itself, at most 40 on a path. Following a link whose target is
// absolute or out of the tree is [ErrEscape]. Remove, RemoveAll and Rename act on a link itself, all other operations
// on its target. A link that leads nowhere is [fs.ErrNotExist], even for operations that could create a file. Sockets,
// pipes and devices are visible, but all other operations on them are [ErrNotRegular].
//
// Errors are *fs.PathError and *os.LinkError. New files and directories get the requested permission bits, reduced by
// the umask 022, like files from most programs; Chmod sets any bits.
//
// All methods are safe for concurrent use. The zero Stage is not usable.
type Stage stage.Stage

// Spill holds the staged bytes that exceed the limit of memory, instead of a temporary file. Bytes are only ever
// appended, and read at their offsets. It is safe for concurrent use.
type Spill interface {
	io.ReaderAt
	// Append writes all of p at the end and returns its offset.
	Append(p []byte) (offset int64, err error)
}

// Savepoint is a state of a stage to which it can be rolled back. The zero Savepoint is the beginning.
type Savepoint stage.Savepoint

// Version identifies a content of a name, see [Stage.Version]. Versions can be compared.
type Version stage.Version

// NewStage returns a stage over base as raised by [Raise]. If that fails, for example because base is nil, every
// operation of the stage returns its error.
func NewStage(base afero.Fs) *Stage { return (*Stage)(stage.New(inner(base))) }

// in returns the stage with its internal methods.
func (s *Stage) in() *stage.Stage { return (*stage.Stage)(s) }

// inner returns the internal type of a Stage or a RootFs, and any other file system unchanged.
func inner(fsys afero.Fs) afero.Fs {
	switch f := fsys.(type) {
	case *Stage:
		return f.in()
	case *RootFs:
		if f != nil {
			return f.root
		}
	}
	return fsys
}

// ReadFile returns the bytes of a regular file. They are shared: never modify them. The stage keeps recently read
// bytes, up to 4 MiB, so that several steps read a file once. A file of 2 GiB or more is [ErrTooLarge], and so is a
// file beyond the host's limit, see actions.Limits.
func (s *Stage) ReadFile(name string) ([]byte, error) { return s.in().ReadFile(name) }

// Edit applies splices, with offsets in the present content, in ascending order and without overlaps. A splice with an
// empty By is attributed to the step of this view. The splices are copied. Splices that do not change the bytes are
// dropped; if none is left, the file is not touched. A symbolic link is followed and stays.
func (s *Stage) Edit(name string, splices []change.Splice) error { return s.in().Edit(name, splices) }

// Copy makes newname a copy of the regular file that oldname leads to, with its permission bits, reduced by the umask
// of the process, and without setuid and setgid, because the copy may belong to another user. The bytes are not read:
// the copy refers to them. It fails with [fs.ErrExist] if newname exists, even as a link.
func (s *Stage) Copy(oldname, newname string) error { return s.in().Copy(oldname, newname) }

// Resolve returns the canonical path of name with every symbolic link resolved, including the last element, and checks
// that it may be read. The path itself need not exist, but its directory must.
func (s *Stage) Resolve(name string) (string, error) { return s.in().Resolve(name) }

// Version returns the version of the file at the name; links are not followed. Equal versions of a name mean equal
// kind, permission bits, bytes and target, on any stage over the same base and in later runs too. Different versions do
// not always mean a difference. If the file system has no identities of files, versions of base files never equal
// versions of another stage. Only bytes of staged files are read.
func (s *Stage) Version(name string) (Version, error) {
	v, err := s.in().Version(name)
	return Version(v), err
}

// Savepoint returns the present state.
func (s *Stage) Savepoint() Savepoint { return Savepoint(s.in().Savepoint()) }

// Rollback discards all changes staged since the savepoint. On the stage of an action it discards at most the changes
// of that action, and none if its step only reads. Later savepoints become invalid. Bytes that were read stay cached.
func (s *Stage) Rollback(p Savepoint) { s.in().Rollback(stage.Savepoint(p)) }

// Changes returns the differences from the base, in the order of paths as strings, with the hashes of both sides; bytes
// that were not read so far are read now, several files at once. A staged path that equals its base is not listed.
//
// A directory that was created, removed, renamed or whose mode was changed is a separate change, and each file in a
// removed or renamed directory is a change as well. A file counts as renamed if the file itself was moved here, edited
// or not; a copy counts as created. The time of a file alone is a change only if [Stage.Chtimes] set it. Old and New of
// a change may be of different kinds.
//
// The texts and origins in the changes are shared and must not be modified. Their contents can be opened until the
// stage is closed; later writes to the stage do not affect them. If the base has drifted, OpenOld and OpenNew return
// [ErrDrift], as does Changes itself for a file that has changed since the run read it.
func (s *Stage) Changes() ([]change.Change, error) { return s.in().Changes() }

// Close removes the temporary file, if any, and closes the directory if [NewStage] has opened it. Their
// content cannot be read afterwards, so close a stage after its changes have been committed or dropped. Closing it
// again does nothing.
func (s *Stage) Close() error { return s.in().Close() }

// Name returns "Stage".
func (s *Stage) Name() string { return s.in().Name() }

// Open opens a file or a directory for reading.
func (s *Stage) Open(name string) (afero.File, error) { return s.in().Open(name) }

// OpenFile opens a file or a directory. A write through a handle is visible through all other handles at once. A handle
// stays usable when its file is renamed or removed. Handles are safe for concurrent use.
func (s *Stage) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	return s.in().OpenFile(name, flag, perm)
}

// Create creates a file, or truncates the existing file, for reading and writing.
func (s *Stage) Create(name string) (afero.File, error) { return s.in().Create(name) }

// Stat describes the file at the name, with links followed.
func (s *Stage) Stat(name string) (os.FileInfo, error) { return s.in().Stat(name) }

// Mkdir creates a directory.
func (s *Stage) Mkdir(name string, perm os.FileMode) error { return s.in().Mkdir(name, perm) }

// MkdirAll creates a directory and the missing directories above it. If only some paths are allowed, the directories
// that lead to an allowed path may be created too.
func (s *Stage) MkdirAll(name string, perm os.FileMode) error { return s.in().MkdirAll(name, perm) }

// Remove removes a file, a link, or an empty directory.
func (s *Stage) Remove(name string) error { return s.in().Remove(name) }

// RemoveAll removes the name with everything below it. A missing name is not an error. It removes all or nothing: a
// directory that contains a file that may not be removed stays unchanged.
func (s *Stage) RemoveAll(name string) error { return s.in().RemoveAll(name) }

// Rename renames oldname to newname, like rename(2): a file or a link replaces a file or a link, a directory replaces
// an empty directory.
func (s *Stage) Rename(oldname, newname string) error { return s.in().Rename(oldname, newname) }

// Chmod sets the permission bits of a file or directory, with links followed. Type bits are ignored.
func (s *Stage) Chmod(name string, mode os.FileMode) error { return s.in().Chmod(name, mode) }

// Chtimes sets the modification time of a file, with links followed; the zero time leaves it unchanged. Another time is
// a change of the file although its bytes stay the same, until the file is written to again: writing sets the time of
// writing. Times of directories are only visible on the stage. Access times are not staged at all: that they were set
// could never be observed, because reading sets them too.
func (s *Stage) Chtimes(name string, atime, mtime time.Time) error {
	return s.in().Chtimes(name, atime, mtime)
}

// Chown stages nothing: owners cannot be changed. It returns nil only if both ids are -1 or the present ids of the
// file, and otherwise an error that is [errors.ErrUnsupported]. Files created on the stage will belong to the user and
// the group of this process.
func (s *Stage) Chown(name string, uid, gid int) error { return s.in().Chown(name, uid, gid) }

// LstatIfPossible is Stat, but does not follow a link at the name itself. It is always possible.
func (s *Stage) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	return s.in().LstatIfPossible(name)
}

// ReadlinkIfPossible returns the target of a symbolic link as it was set, with slashes.
func (s *Stage) ReadlinkIfPossible(name string) (string, error) {
	return s.in().ReadlinkIfPossible(name)
}

// SymlinkIfPossible makes newname a symbolic link to oldname, which is kept unchanged: its target is resolved when the
// link is followed. The stage of a run refuses to create a link that would lead out of the tree, or to a path that a
// step must not write to.
func (s *Stage) SymlinkIfPossible(oldname, newname string) error {
	return s.in().SymlinkIfPossible(oldname, newname)
}
