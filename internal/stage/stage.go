// Package stage is a copy-on-write file system over a base: a whole change is worked out on it before anything is
// written, and in the end it tells what differs.
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
	since    int  // how much had been staged when the view was made
	ended    bool // see End; core.mu guards it
}

// core is what all views of a stage share.
type core struct {
	err   error // why there is no base
	base  *baseFs
	own   io.Closer // what was opened for the base; nil if the base was given open
	guard guard.Guard
	repos *guard.Repositories // nil if there is no base
	// guarded means that there is a policy: without one, links may lead anywhere, for none is followed out of the tree.
	guarded bool
	refuses bool             // see RefuseForeign
	locked  map[string]error // of the directories of the base that were asked, see mayChange
	mounted []string         // what something is mounted on in the base, see RefuseMounted
	inPlace bool             // files of these may be given other bytes
	now     time.Time        // the mtime of all that is written
	nonce   string           // no other stage has it
	umask   func() fs.FileMode
	// maxRead bounds what is read as a whole. It is set before the first use.
	maxRead int64

	mu     sync.RWMutex
	root   *node
	inodes map[string]*node // by path in the base, of the base's files that have one
	log    []undo
	seq    int // how many mutations there have been: what is stamped with it is in their order
	low    int // the least length of the log since the last delta, see Keeper
	turn   int // how many savepoints were taken
	// taken are the directories of the base that were listed to be moved or taken away as a whole.
	taken []listing
	mute  bool // Restore builds the stage: what is taken away was listed then
	// putBack is what stood at paths of the base before commits that were undone, see SetPutBack.
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

// New returns a stage over base as raised by [raise.FS]. If that fails, for want of a base perhaps, every operation of
// the stage returns its error.
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
	// Without a call of Close the file behind it is closed, and removed where that has to be done by name, as well.
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

// For returns a view of the same stage: all that is written through it is attributed to the step, or refused with
// [names.ErrReadOnly] if readOnly is set. Views share everything else, savepoints and the guard too.
func (s *Stage) For(step string, readOnly bool) *Stage {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return &Stage{core: s.core, step: step, readOnly: readOnly, since: len(s.log)}
}

// End refuses all that is written through this view from now on, also through files that are open: the step that it was
// for has returned, and what it still did would be behind a rollback perhaps, and among the work of other steps.
func (s *Stage) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// errEnded means that a view has ended.
var errEnded = fmt.Errorf("the step that works on this tree has returned: %w", fs.ErrClosed)

// Name returns "Stage".
func (s *Stage) Name() string { return "Stage" }

// Close gives back the temporary file, if there is one, and the directory if [New] has opened it.
func (s *Stage) Close() error {
	err := s.temp.close()
	if s.own != nil {
		err = errors.Join(err, s.own.Close())
	}
	return err
}

// Canonical returns the canonical form of a name as a caller wrote it, purely lexical, checked, see [handle.Canonical].
func (s *Stage) Canonical(name string) (string, error) {
	clean, _, err := s.begin(name, guard.Look)
	return clean, names.PathError("clean", name, err)
}

// maxDepth is in how many directories a path may lie that is written to. Each directory costs a look at all those above
// it, here and in the commit, and real trees are not that deep.
const maxDepth = 128

// begin is what every operation does first: it checks that the stage is usable and may be written to, and cleans the
// name. asDir means that it was written with a slash at its end, so that nothing but a directory will do.
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

// modify calls do with what stands or would stand at a name, with core.mu held for writing.
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

// writing calls do with the canonical form of a name that is to be written to, with core.mu held for writing.
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

// withTwo is modify for two names. Something has to stand at the first one, and only links there are followed.
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

// lookUp finds something for reading. The ent is what stood there at one moment; its node may change at once.
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

// Savepoint returns the present moment.
func (s *Stage) Savepoint() Savepoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	return Savepoint{len(s.log)}
}

// Rollback takes back all that was staged since the savepoint, through a view of [Stage.For] at most what was staged
// since that was made. Of a view that only reads, or that has ended, it does nothing.
func (s *Stage) Rollback(p Savepoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && !s.readOnly {
		s.rollback(max(p.n, s.since))
	}
}

// Stat returns what stands at the name, links followed.
func (s *Stage) Stat(name string) (os.FileInfo, error) {
	info, err := s.info(name, true)
	return info, names.PathError("stat", name, err)
}

// LstatIfPossible is Stat, but does not follow a link that the name itself is. It is always possible.
func (s *Stage) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	info, err := s.info(name, false)
	return info, true, names.PathError("lstat", name, err)
}

func (s *Stage) info(name string, follow bool) (fs.FileInfo, error) {
	p, err := s.lookUp(name, follow, guard.Look)
	if err != nil {
		return nil, err
	}
	called, err := handle.Canonical(s.core.base.fsys, name) // a link is called by its own name, as by stat(2)
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
