package fsutil

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"
)

var errStage = errors.New("stage: under construction")

// Guard is the policy of the host over the paths of a stage. It is applied to the path that is left when all symbolic
// links on the way are resolved. The zero Guard allows everything but writing to version control directories.
type Guard struct {
	// Allowed are the files and directories, canonical, that may be read and written, with all below them. Empty means
	// the whole tree.
	Allowed []string
	// Reserved is the canonical path of the state directory: it is not listed, and opening it is ErrReserved. Empty
	// means there is none.
	Reserved string
}

// Stage is a copy-on-write file system over a base that it never writes to.
type Stage struct{}

// Savepoint is a moment of a stage to which it can be rolled back.
type Savepoint struct{ n int }

// NewStage returns a stage over base.
func NewStage(base afero.Fs) *Stage { return &Stage{} }

// SetGuard sets the policy. Call it before the first use.
func (s *Stage) SetGuard(g Guard) {}

// Base returns the base as raised by [Raise].
func (s *Stage) Base() afero.Fs { return nil }

// For returns a view of the same stage: all that is written through it is attributed to the step, or refused with
// ErrReadOnly if readOnly is set. Views share everything else, savepoints and the guard too.
func (s *Stage) For(step string, readOnly bool) *Stage { return s }

// Canonical returns the canonical form of a name as a caller wrote it, purely lexical, checked.
func (s *Stage) Canonical(name string) (string, error) { return "", errStage }

// Resolve returns the canonical path that name leads to when every symbolic link is followed, the last one too, and checks
// it against the guard. What it names need not exist, but its directory must.
func (s *Stage) Resolve(name string) (string, error) { return "", errStage }

// ReadFile returns the bytes of a regular file. They are shared: never modify them.
func (s *Stage) ReadFile(name string) ([]byte, error) { return nil, errStage }

// Remember offers bytes of a file that were just read through OpenDir, so that a later ReadFile need not read it again.
func (s *Stage) Remember(name string, data []byte, info fs.FileInfo) {}

// Edit applies splices, given in offsets of the current content. A splice whose By is empty is attributed to the step of this view.
func (s *Stage) Edit(name string, splices []Splice) error { return errStage }

// Copy makes newname a copy of the regular file oldname, mode included, by reference. It fails with ErrExist if newname exists.
func (s *Stage) Copy(oldname, newname string) error { return errStage }

// Discard is Remove, but the file is not to be kept in the trash.
func (s *Stage) Discard(name string) error { return errStage }

// Savepoint returns the present moment.
func (s *Stage) Savepoint() Savepoint { return Savepoint{} }

// Rollback takes back all that was staged since the savepoint.
func (s *Stage) Rollback(p Savepoint) {}

// Changes returns what differs from the base, in path order, complete with hashes of both sides.
func (s *Stage) Changes() ([]Change, error) { return nil, errStage }

// ChangedSince returns the paths touched since the savepoint that differ from what they were then, sorted.
func (s *Stage) ChangedSince(p Savepoint) []string { return nil }

// OpenDir implements [DirOpener].
func (s *Stage) OpenDir(name string) (DirHandle, error) { return nil, errStage }

// Name returns "Stage".
func (s *Stage) Name() string { return "Stage" }

// The methods of afero.Fs, with the meaning they have on a POSIX system.
func (s *Stage) Create(name string) (afero.File, error)       { return nil, errStage }
func (s *Stage) Mkdir(name string, perm os.FileMode) error    { return errStage }
func (s *Stage) MkdirAll(path string, perm os.FileMode) error { return errStage }
func (s *Stage) Open(name string) (afero.File, error)         { return nil, errStage }
func (s *Stage) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	return nil, errStage
}
func (s *Stage) Remove(name string) error                               { return errStage }
func (s *Stage) RemoveAll(path string) error                            { return errStage }
func (s *Stage) Rename(oldname, newname string) error                   { return errStage }
func (s *Stage) Stat(name string) (os.FileInfo, error)                  { return nil, errStage }
func (s *Stage) Chmod(name string, mode os.FileMode) error              { return errStage }
func (s *Stage) Chown(name string, uid, gid int) error                  { return errStage }
func (s *Stage) Chtimes(name string, atime, mtime time.Time) error      { return errStage }
func (s *Stage) LstatIfPossible(name string) (os.FileInfo, bool, error) { return nil, false, errStage }
func (s *Stage) SymlinkIfPossible(oldname, newname string) error        { return errStage }
func (s *Stage) ReadlinkIfPossible(name string) (string, error)         { return "", errStage }
