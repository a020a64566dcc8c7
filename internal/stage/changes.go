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

// Changes returns the differences from the base, sorted by path, with the hashes of both sides. It reads files that
// were not read so far, several at once. fsutil.Stage documents which differences count as changes.
func (s *Stage) Changes() ([]change.Change, error) { return s.changes(false) }

// Outline is Changes without the new hashes of files that certainly differ because of their edits, since most callers
// do not need these hashes: [Summed] computes them. The commit notices drift of the base by the change time of the
// inode; without such a time, no hash is left out.
func (s *Stage) Outline() ([]change.Change, error) { return s.changes(true) }

// Summed returns the change with New.Hash, which [Stage.Outline] may have left out. It reads the file to compute the
// hash; the error is [names.ErrDrift] if the file has changed.
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
		found[i] = nil // there may be many: found shrinks as changes grows
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

// isIdle reports whether the change changes nothing.
func (p *pendingChange) isIdle() bool {
	c := &p.change
	return c.Kind == change.Modified && c.Old.SameContent(c.New) && !(p.timed && !c.Old.ModTime.Equal(c.New.ModTime))
}

// unrenameIdle turns a rename into a creation if the old name has the same content again: seen from outside the old
// name never changed, so the other entry was made, not moved.
func unrenameIdle(found []*pendingChange) {
	renamed := make(map[string]*pendingChange)
	for _, p := range found {
		if p.change.Kind == change.Renamed {
			renamed[p.change.From] = p
		}
	}
	for _, p := range found {
		// An entry that is no longer a rename may be idle itself, and may be the old name of another rename.
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

// unrename turns a rename into a creation, or into a modification of the entry that it replaced.
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

// pending returns everything that may be a change, without reading any file.
func (s *Stage) pending() ([]*pendingChange, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := collector{
		core: s.core, shown: make(map[string]leaf), hidden: make(map[string]*fact), gone: make(map[string]*removal),
		before: make(map[string]*removal), listed: make(map[*fact][]change.Hash),
	}
	for _, l := range s.taken {
		all.listed[l.dir] = append(all.listed[l.dir], l.sum)
	}
	if err := cmp.Or(all.mirror(s.root, "."), driftError(all.drifts)); err != nil {
		return nil, err
	}
	return all.join()
}

// differsByEdits reports whether the splices alone show that a file differs, and drift would be noticed without the new
// hash.
func (p *pendingChange) differsByEdits() bool {
	b, c := p.newBody, &p.change
	return c.Kind == change.Modified && b != nil && p.oldBody != nil && b.src != nil && b.src == p.oldBody.src &&
		!b.plain() && b.src.id.CTime != 0 && (b.size != p.oldBody.size || b.inPlace())
}

// complete fills in the hashes.
func (s *Stage) complete(found []*pendingChange, outline bool) error {
	// Hashing keeps the processors busy, but on a slow base it mostly waits.
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

// hashFor is hashOf with an error that names the file.
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
