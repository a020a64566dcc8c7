package stage

import (
	"context"
	"crypto/sha256"
	"io"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/names"
)

// Changes returns what differs from the base, in the order of paths as strings, complete with the hashes of both sides;
// bytes that nobody has read so far are read for that now, several files at once. What was staged and comes out as it
// was is not listed.
//
// A directory that was made, removed, renamed or given another mode is a change of its own, and each file in one that
// was removed or renamed is one as well. A file counts as renamed when the inode it is moved here, edited or not; a
// copy is created. The time of a file alone is a change only if [Stage.Chtimes] set it. At one path Old and New may be
// of different kinds.
//
// The texts and origins in the changes are shared and must not be modified. Their contents can be opened until the
// stage is closed; what was written to the stage later does not show in them. If the base has drifted, OpenOld and
// OpenNew return [names.ErrDrift], as does Changes itself for a file that has changed since the run read it.
func (s *Stage) Changes() ([]change.Change, error) { return s.changes(false) }

// Outline is Changes without the hashes of edited files whose edits alone show that they are different now, since most
// callers do not need them: [Summed] works them out. It is left to the commit to find out
// that the base has drifted, by the time of the last change of the inode; where there is none, no hash is left out.
func (s *Stage) Outline() ([]change.Change, error) { return s.changes(true) }

// Summed returns the change with New.Hash, which [Stage.Outline] may have left out. It reads the file for that; the
// error is [names.ErrDrift] if that has changed.
func Summed(c change.Change) (change.Change, error) {
	if c.SumNew == nil {
		return c, nil
	}
	h, err := c.SumNew()
	if err == nil {
		c.New.Hash, c.SumNew = h, nil
	}
	return c, err
}

func (s *Stage) changes(outline bool) ([]change.Change, error) {
	if s.err != nil {
		return nil, s.err
	}
	found, err := s.pending()
	if err != nil {
		return nil, err
	}
	if err := s.complete(found, outline); err != nil {
		return nil, err
	}
	unrenameIdle(found)
	changes := make([]change.Change, 0, len(found))
	for i, p := range found {
		found[i] = nil // there may be many: as one grows the other may go
		if !p.isIdle() {
			c := p.change
			c.SetBytes(s.opener(p.oldBody, c.OldPath()), s.opener(p.newBody, c.Path))
			if c.New.Kind == change.File && c.New.Hash == (change.Hash{}) {
				b, at := p.newBody, c.Path
				c.SumNew = func() ([sha256.Size]byte, error) { return s.hashFor(b, at) }
			}
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// pendingChange is a change whose hashes are not known yet.
type pendingChange struct {
	change                  change.Change
	oldBody, newBody, under *body // of the files in Old, New and Replaced
	timed                   bool  // New.ModTime was set on purpose
}

// isIdle reports whether nothing comes of the change.
func (p *pendingChange) isIdle() bool {
	c := &p.change
	return c.Kind == change.Modified && c.Old.SameContent(c.New) && !(p.timed && !c.Old.ModTime.Equal(c.New.ModTime))
}

// unrenameIdle unrenames the renames whose old name has, as something new, just what was renamed: seen from outside
// that name never changed, so the other one was made, not moved.
func unrenameIdle(found []*pendingChange) {
	renamed := make(map[string]*pendingChange)
	for _, p := range found {
		if p.change.Kind == change.Renamed {
			renamed[p.change.From] = p
		}
	}
	for _, p := range found {
		// One that is unrenamed may turn out idle itself, and stand where another one was renamed from.
		for p != nil && p.isIdle() {
			next := renamed[p.change.Path]
			if next != nil {
				delete(renamed, p.change.Path)
				next.unrename()
			}
			p = next
		}
	}
}

// unrename makes a rename a creation, or the modification of what it replaced.
func (p *pendingChange) unrename() {
	c := &p.change
	c.Kind, c.From = change.Modified, ""
	if c.Replaced.Kind == change.Absent {
		c.Kind = change.Created
	}
	c.Old, p.oldBody = c.Replaced, p.under
	c.Replaced, p.under = change.State{}, nil
	c.Splices = nil
	c.New.ID = capability.Identity{}
}

// pending works out all that may be changes, without reading any file.
func (s *Stage) pending() ([]*pendingChange, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := collector{core: s.core, shown: make(map[string]leaf), hidden: make(map[string]*fact), gone: make(map[string]*removal)}
	if err := all.mirror(s.root, "."); err != nil {
		return nil, err
	}
	return all.join()
}

// differsByEdits reports whether splices alone show that a file is not what it was, and drift would be noticed without
// the hash of what it is.
func (p *pendingChange) differsByEdits() bool {
	b, c := p.newBody, &p.change
	return c.Kind == change.Modified && b != nil && !b.plain() && b.src != nil && p.oldBody != nil && b.src == p.oldBody.src &&
		b.src.id.CTime != 0 && (b.size != p.oldBody.size || b.inPlace())
}

// complete fills in the hashes.
func (s *Stage) complete(found []*pendingChange, outline bool) error {
	g, ctx := errgroup.WithContext(context.Background())
	// Hashing is work for the processors, but on a slow base it mostly waits.
	g.SetLimit(2 * runtime.GOMAXPROCS(0))
	errs := make([]error, len(found))
	for i, p := range found {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			errs[i] = s.completeOne(p, outline)
			return errs[i]
		})
	}
	if g.Wait() == nil {
		return nil
	}
	// The first in path order of those that were tried, whichever goroutine was first.
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	return errs[i]
}

func (s *Stage) completeOne(p *pendingChange, outline bool) error {
	c := &p.change
	for _, side := range []struct {
		body  *body
		state *change.State
		path  string
	}{{p.oldBody, &c.Old, c.OldPath()}, {p.under, &c.Replaced, c.Path}, {p.newBody, &c.New, c.Path}} {
		if side.body == nil || outline && side.state == &c.New && p.differsByEdits() {
			continue
		}
		var err error
		if side.state.Hash, err = s.hashFor(side.body, side.path); err != nil {
			return err
		}
	}
	return nil
}

// hashFor is hashOf with the error of a file of that name.
func (s *Stage) hashFor(b *body, name string) (change.Hash, error) {
	h, err := s.hashOf(b)
	return h, names.PathError("read", name, err)
}

func (s *Stage) opener(b *body, name string) backing.Opener {
	if b == nil {
		return nil
	}
	return func() (io.ReadCloser, error) {
		r, err := s.open(b)
		return r, names.PathError("open", name, err)
	}
}
