package commit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// txn is a transaction that is applied or undone.
type txn struct {
	*disk.Disk
	workers int
	state   stateDir
	opts    *Options
	key     []byte
	plan    *journal.Plan // the header; the records are in entries until the plan is written
	entries []*entry      // in path order
	byPath  map[string]*entry
	dir     string // of the transaction
	trouble troubles
	// notOurs are directories that should have been made but already existed, and entries whose mode another program
	// changed before the transaction did. After a crash they cannot be distinguished from entries of the transaction.
	notOurs map[*entry]bool
	now     string // the phase

	counting    sync.Mutex
	done, total int   // progress of the phase
	bytes, told int64 // bytes that the phase has read, now and at the last call of Progress
}

// progressEvery is the number of changes between two calls of Progress.
const progressEvery = 64

// countTo starts counting to a total.
func (t *txn) countTo(total int) {
	t.counting.Lock()
	defer t.counting.Unlock()
	t.done, t.total, t.bytes, t.told = 0, total, 0, 0
}

// counted returns err, and counts one more change if err is nil.
func (t *txn) counted(err error) error {
	if t.opts.Progress == nil || err != nil {
		return err
	}
	t.counting.Lock()
	defer t.counting.Unlock()
	if t.done++; t.done%progressEvery == 0 {
		t.opts.Progress(t.now, t.done, t.total, t.bytes)
	}
	return nil
}

// progressBytes is the number of bytes between two calls of Progress.
const progressBytes = 16 << 20

// countRead counts bytes that the phase has read.
func (t *txn) countRead(n int) {
	t.counting.Lock()
	defer t.counting.Unlock()
	if t.bytes += int64(n); t.bytes-t.told >= progressBytes {
		t.told = t.bytes
		t.opts.Progress(t.now, t.done, t.total, t.bytes)
	}
}

// troubles collects problems from several goroutines.
type troubles struct {
	mu        sync.Mutex
	conflicts []change.Problem
	warnings  []change.Problem
	flags     map[string]string // lost flags of inodes, by path
	far       map[string]bool   // directories on other mounts; nil when undoing, which does not look for them
}

func (t *troubles) conflict(path, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conflicts = append(t.conflicts, change.Problem{Path: path, Reason: reason})
}

func (t *troubles) warn(path, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.warnings = append(t.warnings, change.Problem{Path: path, Reason: text})
}

func sortProblems(list []change.Problem) []change.Problem {
	slices.SortFunc(list, func(a, b change.Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	return slices.Compact(list)
}

// told returns all warnings. Lost flags of inodes are a single warning for all files: if one file has flags, often all
// have.
func (t *troubles) told() []string {
	list := t.warnings
	if paths := slices.Sorted(maps.Keys(t.flags)); len(paths) > 0 {
		letters := strings.Split(strings.Join(slices.Collect(maps.Values(t.flags)), ""), "")
		slices.Sort(letters)
		lost := strings.Join(slices.Compact(letters), "")
		list = append(list,
			change.Problem{Path: names.Some(paths, 1, ", "), Reason: "flags of the inode (chattr) are not kept: " +
				lost})
	}
	var texts []string
	for _, w := range sortProblems(list) {
		texts = append(texts, w.String())
	}
	return texts
}

func (t *txn) warner(path string) func(error) {
	return func(err error) {
		lost, ok := errors.AsType[*rootfs.LostFlags](err)
		if !ok {
			t.trouble.warn(path, err.Error())
			return
		}
		t.trouble.mu.Lock()
		defer t.trouble.mu.Unlock()
		if t.trouble.flags == nil {
			t.trouble.flags = make(map[string]string)
		}
		t.trouble.flags[path] = lost.Letters
	}
}

func (t *txn) setEntries(entries []*entry) {
	t.entries = entries
	t.byPath = make(map[string]*entry, len(entries))
	for _, e := range entries {
		t.byPath[e.Path] = e
	}
}

// moves returns the entries to which a file is moved, by the old path of the file.
func (t *txn) moves() map[string]*entry {
	moves := make(map[string]*entry)
	for _, e := range t.entries {
		if e.Moved {
			moves[e.From] = e
		}
	}
	return moves
}

// phase begins the phase with that name.
func (t *txn) phase(name string) {
	t.now = name
	if t.opts.Observe != nil {
		t.opts.Observe(name)
	}
}

// fail adds the path and the phase to an error. A conflict already has both.
func (t *txn) fail(path string, err error) error {
	switch err.(type) {
	case nil:
		return nil
	case *Conflict, *OpError:
		return err
	}
	return &OpError{Phase: t.now, Path: path, Err: err}
}

// conflictAt is the error for a single path.
func conflictAt(path, format string, args ...any) error {
	return &Conflict{Paths: []change.Problem{{Path: path, Reason: fmt.Sprintf(format, args...)}}}
}

// The files that belong to an entry.

// image is the before-image.
func (t *txn) image(e *entry) string { return path.Join(t.dir, journal.OldDir, journal.Slot(e.Slot)) }

// staged is the path at which the new content is made.
func (t *txn) staged(e *entry) string { return path.Join(t.dir, journal.NewDir, journal.Slot(e.Slot)) }

// slot is the file that is exchanged with the path, or renamed to it: the staged content, or a copy of it on the path's
// own mount. After an exchange it is the file that came out of the tree.
func (t *txn) slot(e *entry) string {
	if e.FarDir != "" {
		return t.plan.FarName(e.Record)
	}
	return t.staged(e)
}

// out is the path to which an entry that leaves the tree is moved.
func (t *txn) out(e *entry) string { return t.slot(e) + ".out" }

// back is the path at which undoing keeps files that it takes from the tree or is about to put there.
func (t *txn) back(e *entry) string { return t.slot(e) + ".back" }

// temp is the path at which copies are made. It only ever has an unfinished copy.
func (t *txn) temp(e *entry) string { return t.slot(e) + ".tmp" }

func depth(p string) int { return strings.Count(p, "/") }

// shallowFirst returns the wanted entries, directories before their contents.
func (t *txn) shallowFirst(want func(e *entry) bool) []*entry {
	list := slices.DeleteFunc(slices.Clone(t.entries), func(e *entry) bool { return !want(e) })
	slices.SortStableFunc(list, func(a, b *entry) int { return depth(a.Path) - depth(b.Path) })
	return list
}

// deepestFirst returns the wanted entries, contents before their directories.
func (t *txn) deepestFirst(want func(e *entry) bool) []*entry {
	list := t.shallowFirst(want)
	slices.Reverse(list)
	return list
}

// matches reports whether the file name, in state s, is the file that the plan recorded as want: the same inode with
// the same size and time, or the same bytes if inodes are not known. If the file's time is close to the time of the
// transaction, a write might not have changed that time, so the file is hashed as well. Permission bits are not
// compared.
func (t *txn) matches(name string, s, want change.State) (bool, error) {
	if s.Kind != want.Kind {
		return false, nil
	}
	switch s.Kind {
	case change.Symlink:
		return s.Target == want.Target, nil
	case change.File:
	default:
		return true, nil
	}
	if s.Size != want.Size {
		return false, nil
	}
	if s.ID.Ino != 0 && want.ID.Ino != 0 {
		if !s.ID.SameFile(want.ID) {
			return false, nil
		}
		if s.ModTime.Equal(want.ModTime) && !isRacy(want.ModTime, t.plan.Time) {
			return true, nil
		}
	}
	h, n, err := t.Hash(name, want.Size)
	if disk.IsAbsent(err) {
		return false, nil
	}
	return err == nil && h == want.Hash && n == want.Size, err
}

// isRacy reports whether a file with that time could have been written again since without a new time. Some file
// systems keep times only to two seconds.
func isRacy(mtime, since time.Time) bool { return !mtime.Before(since.Add(-2 * time.Second)) }
