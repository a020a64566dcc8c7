// Package stage is a copy-on-write file system over a base: steps work on it before anything is written, and in the end
// it returns the differences.
package stage

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// Stage is a copy-on-write file system over a base that it never writes to. fsutil.Stage documents its behaviour,
// method by method.
type Stage struct {
	*core
	step     string
	readOnly bool
	since    int  // length of the log when the view was made
	ended    bool // see End; core.mu guards it
}

// core is the part that all views of a stage share.
type core struct {
	err   error // the reason if the base is missing
	base  *baseFs
	own   io.Closer // closes a base that New has opened; nil if the base was passed open
	guard guard.Guard
	repos *guard.Repositories // nil without a base
	// guarded means that there is a policy. Without a policy, links may lead anywhere, because no link out of the tree is
	// followed.
	guarded bool
	refuses bool             // see RefuseForeign
	locked  map[string]error // of the directories of the base that were checked, see mayChange
	mounted []string         // mount points in the base, see RefuseMounted
	inPlace bool             // the bytes of files at mount points may change
	now     time.Time        // the mtime of everything that is written
	nonce   string           // no other stage has it
	umask   func() fs.FileMode
	// maxRead is the largest size of a file that is read as a whole. It is set before the first use.
	maxRead int64

	mu     sync.RWMutex
	root   *node
	inodes map[string]*node // the nodes of files of the base, by path in the base
	log    []undo
	seq    int // how many mutations there have been: the stamp of each gives its order
	low    int // the least length of the log since the last delta, see Keeper
	turn   int // how many savepoints were taken
	// taken are the directories of the base that were listed because they are moved or removed as a whole.
	taken []listing
	mute  bool // Restore builds the stage: removed directories were listed before
	// putBack are the entries of the base before commits that were undone, see SetPutBack.
	putBack map[string][]change.State

	spill   Spill
	temp    *spill       // the default of spill
	held    atomic.Int64 // bytes of pages in memory
	spillAt int64
}

// Savepoint is a moment of a stage to which it can be rolled back. The zero Savepoint is the beginning.
type Savepoint struct{ n int }

var _ interface {
	afero.Fs
	afero.Symlinker
	capability.DirOpener
} = (*Stage)(nil)

// New returns a stage over base as raised by [raise.FS]. If that fails, for example because base is nil, every
// operation of the stage returns its error.
func New(base afero.Fs) *Stage {
	c := &core{now: time.Now().Round(0), nonce: rand.Text(), inodes: make(map[string]*node),
		locked: make(map[string]error), temp: new(spill), spillAt: defaultSpillAt}
	c.spill = c.temp
	c.umask = func() fs.FileMode { return 0 }
	c.root = newDir(0o755, c.now)
	s := &Stage{core: c}
	raised, err := raise.FS(base)
	if err != nil {
		c.err = err
		return s
	}
	if root, ok := raised.(*rootfs.FS); ok && raised != base {
		c.own = root
	}
	c.base = &baseFs{
		fsys: raised, seed: maphash.MakeSeed(), cache: newByteCache(defaultCache),
		known: make(map[string]*fact), hidden: make(map[string]bool),
	}
	if v, ok := raised.(capability.Volatile); !ok || !v.InMemory() {
		c.umask = sync.OnceValue(modes.Umask)
	}
	c.repos = c.newRepositories()
	c.root.base = "."
	if f, err := c.base.lstat("."); err == nil && f != nil && f.kind == change.Dir {
		c.root.from, c.root.mode, c.root.mtime = f, f.mode, f.mtime
	}
	// If Close is not called, the temporary file is still closed, and removed on systems where its name still exists.
	runtime.AddCleanup(c, func(sp *spill) { _ = sp.close() }, c.temp)
	return s
}

// SetGuard sets the policy. Call it before the first use.
func (s *Stage) SetGuard(g guard.Policy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard, s.guarded = guard.New(g), true
	if s.err == nil {
		s.repos = s.newRepositories()
	}
}

// Base returns the base as raised by [raise.FS], nil if there is none.
func (s *Stage) Base() afero.Fs {
	if s.err != nil {
		return nil
	}
	return s.core.base.fsys
}

// For returns a view of the same stage: changes through it are attributed to the step, or refused with
// [names.ErrReadOnly] if readOnly is set. Views share everything else, including savepoints and the guard.
func (s *Stage) For(step string, readOnly bool) *Stage {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return &Stage{core: s.core, step: step, readOnly: readOnly, since: len(s.log)}
}

// End refuses all writes through this view from now on, also through open files: the step of the view has returned, and
// a later write could follow a rollback or mix with the work of other steps.
func (s *Stage) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// errEnded means that a view has ended.
var errEnded = fmt.Errorf("the step that works on this tree has returned: %w", fs.ErrClosed)

// Name returns "Stage".
func (s *Stage) Name() string { return "Stage" }

// Close removes the temporary file, if any, and closes the directory if [New] has opened it.
func (s *Stage) Close() error {
	err := s.temp.close()
	if s.own != nil {
		err = errors.Join(err, s.own.Close())
	}
	return err
}

// Canonical returns the checked canonical form of a name, purely lexical, see [handle.Canonical].
func (s *Stage) Canonical(name string) (string, error) {
	clean, _, err := s.begin(name, guard.Look)
	return clean, names.PathError("clean", name, err)
}

// maxDepth is the largest number of directories above a written path. Each directory is checked with all directories
// above it, here and in the commit, and real trees are not that deep.
const maxDepth = 128

// begin is the first part of every operation: it checks that the stage is usable and may be written, and cleans the
// name. asDir means that the name ends in a slash, so that only a directory is accepted.
func (s *Stage) begin(name string, a guard.Access) (clean string, asDir bool, err error) {
	if s.err != nil {
		return "", false, s.err
	}
	if a == guard.Write && s.readOnly {
		return "", false, names.ErrReadOnly
	}
	clean, err = handle.Canonical(s.core.base.fsys, name)
	if err == nil && a == guard.Write && strings.Count(clean, "/") > maxDepth {
		err = names.ErrTooDeep
	}
	return clean, isWrittenAsDir(name), err
}

func isWrittenAsDir(name string) bool {
	last := name[strings.LastIndexByte(name, '/')+1:]
	return name != "" && (last == "" || last == "." || last == "..")
}

// modify calls do with the place of a name, with core.mu held for writing.
func (s *Stage) modify(name string, follow bool, do func(p place) error) error {
	return s.writing(name, func(clean string, asDir bool) error {
		p, err := s.find(clean, follow, guard.Write)
		if err != nil {
			return err
		}
		p.asDir = asDir
		return do(p)
	})
}

// writing calls do with the canonical form of a name that will be written, with core.mu held for writing.
func (s *Stage) writing(name string, do func(clean string, asDir bool) error) error {
	clean, asDir, err := s.begin(name, guard.Write)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errEnded
	}
	return do(clean, asDir)
}

// withTwo is modify for two names. The first must exist, and only links at the first are followed.
func (s *Stage) withTwo(
	name string, a guard.Access, follow bool, other string, b guard.Access, do func(src, dst place) error,
) error {
	from, fromAsDir, err := s.begin(name, a)
	if err != nil {
		return err
	}
	to, toAsDir, err := s.begin(other, b)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended && b == guard.Write {
		return errEnded
	}
	src, err := s.findExisting(from, follow, a)
	if err != nil {
		return err
	}
	dst, err := s.find(to, false, b)
	if err != nil {
		return err
	}
	src.asDir, dst.asDir = fromAsDir, toAsDir
	return do(src, dst)
}

// lookUp finds an entry for reading. The ent is the state of one moment; its node may change at once.
func (s *Stage) lookUp(name string, follow bool, a guard.Access) (place, error) {
	clean, asDir, err := s.begin(name, a)
	if err != nil {
		return place{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, err := s.findExisting(clean, follow || asDir, a)
	if err == nil && asDir && p.ent.kind() != change.Dir {
		err = names.ErrNotDir
	}
	return p, err
}

// Resolve returns the canonical path that name leads to when every symbolic link is followed, the last one too.
func (s *Stage) Resolve(name string) (string, error) {
	clean, _, err := s.begin(name, guard.Look)
	if err != nil {
		return "", names.PathError("resolve", name, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, err := s.find(clean, true, guard.Look)
	return p.path, names.PathError("resolve", name, err)
}

// Savepoint returns the present moment as a savepoint.
func (s *Stage) Savepoint() Savepoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	return Savepoint{len(s.log)}
}

// Rollback undoes everything that was staged since the savepoint. Through a view of [Stage.For] it undoes at most what
// was staged since the view was made. It does nothing through a view that is read-only or has ended.
func (s *Stage) Rollback(p Savepoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && !s.readOnly {
		s.rollback(max(p.n, s.since))
	}
}

// Stat describes the entry at the name, links followed.
func (s *Stage) Stat(name string) (os.FileInfo, error) {
	info, err := s.info(name, true)
	return info, names.PathError("stat", name, err)
}

// LstatIfPossible is Stat, but does not follow a link at the name. It is always possible.
func (s *Stage) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	info, err := s.info(name, false)
	return info, true, names.PathError("lstat", name, err)
}

func (s *Stage) info(name string, follow bool) (fs.FileInfo, error) {
	p, err := s.lookUp(name, follow, guard.Look)
	if err != nil {
		return nil, err
	}
	called, err := handle.Canonical(s.core.base.fsys, name) // a link has its own name in the result, as in stat(2)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return p.ent.info(called), nil
}

// ReadlinkIfPossible returns the target of a symbolic link as it was given, with slashes.
func (s *Stage) ReadlinkIfPossible(name string) (string, error) {
	p, err := s.lookUp(name, false, guard.Look)
	if err == nil && p.ent.kind() != change.Symlink {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", names.PathError("readlink", name, err)
	}
	return p.ent.target(), nil
}
