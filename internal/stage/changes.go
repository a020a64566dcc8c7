package stage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"io"
	"runtime"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
)

// Changes returns what differs from the base, sorted by path, complete with the hashes of both sides; bytes that were
// not read so far are read for that now, several files at once. fsutil.Stage tells what counts as a change.
func (s *Stage) Changes() ([]change.Change, error) { return s.changes(false) }

// Outline is Changes without the hashes of edited files whose edits alone show that they are different now, since most
// callers do not need them: [Summed] works them out. It is left to the commit to find out that the base has drifted, by
// the time of the last change of the inode; where there is none, no hash is left out.
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
	all := collector{
		core: s.core, shown: make(map[string]leaf), hidden: make(map[string]*fact), gone: make(map[string]*removal),
		listed: make(map[*fact][]change.Hash),
	}
	for _, l := range s.taken {
		all.listed[l.dir] = append(all.listed[l.dir], l.sum)
	}
	if err := cmp.Or(all.mirror(s.root, "."), driftError(all.drifts)); err != nil {
		return nil, err
	}
	return all.join()
}

// differsByEdits reports whether splices alone show that a file is not what it was, and drift would be noticed without
// the hash of what it is.
func (p *pendingChange) differsByEdits() bool {
	b, c := p.newBody, &p.change
	return c.Kind == change.Modified && b != nil && p.oldBody != nil && b.src != nil && b.src == p.oldBody.src &&
		!b.plain() && b.src.id.CTime != 0 && (b.size != p.oldBody.size || b.inPlace())
}

// complete fills in the hashes.
func (s *Stage) complete(found []*pendingChange, outline bool) error {
	// Hashing is work for the processors, but on a slow base it mostly waits.
	return parallel.Each(context.Background(), 2*runtime.GOMAXPROCS(0), len(found), func(i int) error {
		return s.completeOne(found[i], outline)
	})
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
