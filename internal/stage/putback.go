package stage

import (
	"context"
	"crypto/sha256"
	"io"
	"runtime"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/parallel"
)

// TakenAway is the entry at a path of the base before a commit removes it.
type TakenAway struct {
	Path  []byte       `json:"path"` // bytes, because JSON does not change them
	State change.State `json:"state"`
}

// TakenBy returns the files and links that the commit of the changes will remove, with the hashes of their bytes. The
// hash is zero for a file that has changed since: the commit will report a conflict.
func TakenBy(ctx context.Context, changes []change.Change) ([]TakenAway, error) {
	var all []TakenAway
	var of []change.Change // by place in all
	for _, c := range changes {
		for _, t := range []TakenAway{{[]byte(c.OldPath()), c.Old}, {[]byte(c.Path), c.Replaced}} {
			if t.State.Kind == change.File || t.State.Kind == change.Symlink {
				all, of = append(all, t), append(of, c)
			}
		}
	}
	err := parallel.Each(ctx, runtime.GOMAXPROCS(0), len(all), func(i int) error {
		if s := &all[i].State; s.Kind == change.File && s.Hash == (change.Hash{}) &&
			string(all[i].Path) == of[i].OldPath() {
			s.Hash = oldHash(ctx, of[i])
		}
		return ctx.Err()
	})
	return all, err
}

// oldHash returns the hash of the old content of a change, the zero Hash if it cannot be read any more.
func oldHash(ctx context.Context, c change.Change) change.Hash {
	from, err := c.OpenOld()
	if err != nil {
		return change.Hash{}
	}
	defer from.Close()
	sum := sha256.New()
	for err == nil && ctx.Err() == nil {
		_, err = io.CopyN(sum, from, copySize)
	}
	if err != io.EOF {
		return change.Hash{}
	}
	return change.Hash(sum.Sum(nil))
}

// SetPutBack records the entries that commits removed from paths of the base, the first commit first. After such a
// commit was undone, the same entries are there again, with other times: [Restore] and [Stage.Changes] compare them by
// their bytes. Call it before the first use.
func (s *Stage) SetPutBack(all []TakenAway) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putBack = make(map[string][]change.State)
	for _, t := range all {
		if t.State.Kind != change.File || t.State.Hash != (change.Hash{}) {
			s.putBack[string(t.Path)] = append(s.putBack[string(t.Path)], t.State)
		}
	}
}

// hashBefore returns the hash of a file that a commit removed in the given state, nil if not found.
func (c *core) hashBefore(told *fact) *change.Hash {
	for _, s := range c.putBack[told.path] {
		isIt := s.ID.Dev == told.id.Dev && s.ID.Ino == told.id.Ino && s.ID.CTime == told.id.CTime
		if isIt && s.Kind == change.File && s.Size == told.size && s.ModTime.Equal(told.mtime) {
			return &s.Hash
		}
	}
	return nil
}

// before returns the earlier states of a file or link that commits removed and that was put back.
func (c *core) before(now *fact) ([]*fact, error) {
	var all []*fact
	for _, s := range c.putBack[now.path] {
		if s.Kind != now.kind || s.Size != now.state().Size || s.Mode != now.mode || s.Target != now.target {
			continue
		}
		if s.Kind == change.File {
			h, err := c.hashOf(c.base.keep(now).body())
			if err != nil {
				return nil, err
			}
			if h != s.Hash {
				continue
			}
		}
		all = append(all, &fact{path: now.path, kind: s.Kind, mode: s.Mode, size: now.size, mtime: s.ModTime,
			target: s.Target, id: s.ID})
	}
	return all, nil
}

// closeSums returns the sums of the entries of a directory: in their present state, and if commits removed some and
// they were put back, in their states before the first and the last of these commits.
func (c *core) closeSums(kids []kid) ([]change.Hash, error) {
	now, err := c.factsOf(kids)
	if err != nil {
		return nil, err
	}
	sums := []change.Hash{closeSumOf(kids, now)}
	first, last, other := make([]*fact, len(now)), make([]*fact, len(now)), false
	for i, f := range now {
		first[i], last[i] = f, f
		if f == nil {
			continue
		}
		before, err := c.before(f)
		if err != nil {
			return nil, err
		}
		if n := len(before); n > 0 {
			first[i], last[i], other = before[0], before[n-1], true
		}
	}
	if other {
		sums = append(sums, closeSumOf(kids, first), closeSumOf(kids, last))
	}
	return sums, nil
}
