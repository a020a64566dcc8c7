package guard

import (
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// CheckChanges returns an *fs.PathError for the first change that the policy forbids, on the present tree and with the
// changes made: a change of a reserved path, or of git's data, or a change that turns a directory into a repository.
func (g Policy) CheckChanges(tree Tree, changes []change.Change) error {
	made := New(g)
	repos := made.NewRepositories(tree)
	dirs := make(map[string]*dirMarks)
	for _, c := range changes {
		for _, name := range []string{c.OldPath(), c.Path} {
			if err := made.mayChange(repos, name, c); err != nil {
				return names.PathError("write", name, err)
			}
		}
		note(dirs, c.OldPath(), change.Absent)
		note(dirs, c.Path, c.New.Kind)
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		is, err := repos.wouldBe(dir, *dirs[dir])
		if err == nil && is {
			err = MadeRepository(dir)
		}
		if err != nil {
			return names.PathError("write", dir, err)
		}
	}
	return nil
}

// dirMarks are the marks that changes put into a directory, and all marks that they change there.
type dirMarks struct{ put, changed names.Marks }

// note records the kind of a path after a change.
func note(dirs map[string]*dirMarks, name string, kind change.Kind) {
	dir, base := path.Dir(name), path.Base(name)
	changed := names.MarkOf(base, fs.ModeSymlink)
	if changed == 0 {
		return
	}
	d := dirs[dir]
	if d == nil {
		d = new(dirMarks)
		dirs[dir] = d
	}
	d.changed |= changed
	if kind != change.Absent {
		d.put |= names.MarkOf(base, modes.Bits(kind))
	}
}

// mayChange returns an error if the path may not be changed in this way.
func (g *Guard) mayChange(repos *Repositories, name string, c change.Change) error {
	if err := g.closes(name); err != nil {
		return err
	}
	if err := repos.Check(name, Write, c.Old.Kind == change.Dir); err != nil {
		return err
	}
	if c.New.Kind == change.Dir {
		return nil
	}
	if g.HoldsReserved(name) {
		return names.ErrReserved
	}
	holds, err := repos.Holds(name)
	if err == nil && holds {
		err = names.ErrProtected
	}
	return err
}

// wouldBe reports whether git would regard a directory with these changes as a repository.
func (r *Repositories) wouldBe(dir string, d dirMarks) (bool, error) {
	has := d.put
	stands, err := r.above(dir+"/x", func(string, *repository) error { return nil })
	if err != nil || !stands {
		return err == nil && has.IsRepository(), err
	}
	for _, name := range names.RepositoryNames() {
		if d.changed&names.MarkOf(name, fs.ModeSymlink) != 0 {
			continue
		}
		typ, _, ok, err := r.lookup(names.Join(dir, name))
		if err != nil {
			return false, err
		}
		if ok {
			has |= names.MarkOf(name, typ)
		}
	}
	return has.IsRepository(), nil
}
