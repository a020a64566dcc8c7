package rundir

import (
	"fmt"
	"os"
	"path"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/filelock"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/runs"
)

// DefaultDir is the default directory of a store: in the default state directory of a tree.
const DefaultDir = ".millrace/" + journal.StoreDir

// Options describe how to open a store. The zero Options suit most programs.
type Options struct {
	// Key signs the records of runs, at least 16 bytes. Nil means the key of the user, as for [millrace.Executor]; in
	// memory a random key of the process. A run signed with another key is shown as foreign.
	Key []byte
	// NoSync leaves out every fsync: records survive the process, but not a power cut.
	NoSync bool
	// SharedDir is the directory of the operating system for the shared directories of runs; each run has its own. ""
	// means millrace/shared in the user's cache directory.
	SharedDir string
}

// Store is a directory of runs. It is a [runs.Browser] and writes nothing; the directory need not exist. It is safe for
// concurrent use, by any number of processes.
type Store struct {
	layout
	options Options
	given   afero.Fs // the file system given to Open
	// moved means that a run may be in another directory than the one in which it was created.
	moved bool
	now   func() time.Time

	mu   sync.Mutex
	key  []byte // empty: not known yet
	last int64  // the highest number known to be in use
	lost map[int64]lostEnd
}

// lostEnd is the reason why this process could not record the end of a run, such as a full disk. It counts until the
// run is taken again.
type lostEnd struct {
	takes  int
	reason string
}

// noteLost records in memory that the end of a run could not be recorded in its files; err is nil if it was.
func (s *Store) noteLost(number int64, takes int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		delete(s.lost, number)
		return
	}
	if s.lost == nil {
		s.lost = make(map[int64]lostEnd)
	}
	s.lost[number] = lostEnd{takes, show.Within(fmt.Sprintf("its end could not be recorded: %v", err), maxReason)}
}

// lostReason returns the reason of noteLost for a run that was taken that often, "" if there is none.
func (s *Store) lostReason(number int64, takes int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lost[number]; l.takes == takes {
		return l.reason
	}
	return ""
}

var _ runs.Browser = (*Store)(nil)

// Open returns the store in a directory of a file system, [DefaultDir] for "". If runs of the store change that file
// system as their tree, the directory must be below a state directory; otherwise these runs fail when they open their
// tree. The error matches [runs.ErrFormat] if the existing directory was not written by this version, and otherwise
// reports problems of the key or the name. A directory that does not exist is a store without runs.
func Open(fsys afero.Fs, dir string, o Options) (*Store, error) {
	if err := journal.CheckKey(o.Key); err != nil {
		return nil, err
	}
	raised, err := raise.FS(fsys)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		dir = DefaultDir
	}
	clean, err := handle.Canonical(raised, dir)
	if err != nil {
		return nil, err
	}
	d := disk.Open(raised)
	d.Sync = !o.NoSync
	s := &Store{layout: layout{d: d, dir: path.Clean(clean)}, options: o, given: fsys, now: time.Now}
	if _, err := s.present(); err != nil {
		return nil, err
	}
	return s, nil
}

// readKey returns the key for verifying records, empty without a key: then every run is foreign.
func (s *Store) readKey() ([]byte, error) { return s.keyBy(journal.ExistingKeyFor) }

// writeKey returns the key for signing records. The error matches [runs.ErrNoKey] if the user has no key.
func (s *Store) writeKey() ([]byte, error) {
	key, err := s.keyBy(journal.KeyFor)
	if err == nil && len(key) == 0 {
		err = runs.ErrNoKey
	}
	return key, err
}

func (s *Store) keyBy(find func(afero.Fs, []byte) (journal.Key, error)) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.key) == 0 {
		key, err := find(s.d.FS, s.options.Key)
		if err != nil {
			return nil, err
		}
		if key.Missing == nil { // otherwise no other process has the key, or no key exists
			s.key = key.Bytes
		}
	}
	return s.key, nil
}

// locked reports whether a process works on a run. The error is errNoRun if the run no longer exists.
func (s *Store) locked(number int64) (bool, error) {
	held, err := filelock.Held(s.d, s.run(number, runFile))
	return held, orNoRun(err)
}

// openIndex opens the index for writing, and creates a missing index.
func (s *Store) openIndex() (recordlog.File, error) {
	for range 2 {
		f, err := recordlog.Open(s.d.FS, s.path(indexFile))
		if !disk.IsAbsent(err) {
			return f, err
		}
		if f, err = recordlog.Create(s.d.FS, s.path(indexFile)); !disk.IsExist(err) {
			return f, err
		}
	}
	return nil, os.ErrExist
}
