package disk

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
)

// Abilities are the tested abilities of a file system.
type Abilities struct {
	Exchange, Link, NoReplace, SyncDir bool
	// Lags means that a file's metadata, such as its change time, may be reported late after it was given another name.
	Lags bool
}

// relied lists the abilities that undoing relies on, by their names in a journal.
func (c *Abilities) relied() map[string]*bool {
	return map[string]*bool{"exchange": &c.Exchange, "link": &c.Link, "no_replace": &c.NoReplace}
}

// Names lists the abilities that undoing relies on, for the journal.
func (c *Abilities) Names() []string {
	names := slices.Sorted(maps.Keys(c.relied()))
	return slices.DeleteFunc(names, func(name string) bool { return !*c.relied()[name] })
}

// Adopt assumes the abilities that another process found, if this view of the file system has their methods.
func (d *Disk) Adopt(names []string) {
	var here Abilities
	_, here.Exchange = d.FS.(capability.Exchanger)
	_, here.Link = d.FS.(capability.Linker)
	_, here.NoReplace = d.FS.(capability.NoReplacer)
	can := d.Can.relied()
	for name, has := range here.relied() {
		*can[name] = *can[name] || *has && slices.Contains(names, name)
	}
}

// The files that Probe makes, and the link of setsLinkTimes.
const probeA, probeB, probeC, probeL = "probe-a", "probe-b", "probe-c", "probe-l"

// probes lists them.
func probes() []string { return []string{probeA, probeB, probeC, probeL} }

// Unprobe removes the files of an interrupted Probe.
func (d *Disk) Unprobe(dir string) error {
	for _, name := range probes() {
		if err := d.Remove(path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// Probe tests the abilities of the file system in dir, an empty directory. An ability that is refused as unsupported is
// not used; any other failure is a failure of the disk, and returned.
func (d *Disk) Probe(dir string) error {
	d.links.dir = dir
	a, b := path.Join(dir, probeA), path.Join(dir, probeB)
	if d.Sync {
		err := d.System.SyncDir(dir)
		if d.Can.SyncDir = err == nil; err != nil && !IsUnsupported(err) {
			return err
		}
	}
	for _, name := range []string{a, b} {
		if err := d.Put(name, []byte(path.Base(name)), false); err != nil {
			return err
		}
	}
	for _, try := range []func(a, b string) error{d.probeExchange, d.probeLink, d.probeNoReplace} {
		if err := try(a, b); err != nil && !IsUnsupported(err) {
			return err
		}
	}
	for _, name := range probes() {
		s, err := d.Look(path.Join(dir, name))
		if err == nil && s.Kind != change.Absent {
			err = d.Remove(path.Join(dir, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// probeExchange compares the bytes: a layered implementation may have renamed instead.
func (d *Disk) probeExchange(a, b string) error {
	before, _, err := d.Hash(a, int64(len(probeA)))
	if err != nil {
		return err
	}
	if err := d.Exchange(a, b); err != nil {
		return err
	}
	after, _, err := d.Hash(b, int64(len(probeB)))
	if err != nil {
		return err
	}
	if s, err := d.Look(a); err != nil || s.Kind != change.File {
		return err
	}
	d.Can.Exchange = before == after
	return nil
}

// probeNoReplace tries a taken name and a free name, and leaves a at the name that it reached. Linux refuses the taken
// name on every mount; only the free name shows whether the mount supports the operation.
func (d *Disk) probeNoReplace(a, b string) error {
	if err := d.RenameNoReplace(a, b); !errors.Is(err, fs.ErrExist) {
		return err // nil means that it has replaced b
	}
	c := path.Join(path.Dir(a), probeC)
	if err := d.RenameNoReplace(a, c); err != nil {
		return err
	}
	s, err := d.Look(c)
	d.Can.NoReplace = s.Kind == change.File
	return err
}

// probeLink trusts links only if both names are visibly the same file, and if the second name shows the size of the
// first: gocryptfs shows the size of the encrypted file for a while. It looks at the first name before it makes the
// second, because a mount may cache the first look.
func (d *Disk) probeLink(a, _ string) error {
	was, err := d.Look(a)
	if err != nil {
		return err
	}
	c := path.Join(path.Dir(a), probeC)
	if err := d.Link(a, c); err != nil {
		return err
	}
	two, err := d.Look(c)
	if err != nil {
		return err
	}
	one, err := d.Look(a)
	if err != nil {
		return err
	}
	d.Can.Link = one.ID.SameFile(two.ID) && two.Size == was.Size && two.ModTime.Equal(was.ModTime) &&
		two.Mode == was.Mode
	d.Can.Lags = d.Can.Link && differ(one, two)
	return d.Remove(c)
}

// differ reports whether two names of a file show different metadata.
func differ(one, two change.State) bool {
	return one.ID.CTime != two.ID.CTime || one.ID.Nlink != two.ID.Nlink
}

// ChangesModes tests in dir, an empty directory, whether the mode of a file can be changed.
func (d *Disk) ChangesModes(dir string) (bool, error) {
	name := path.Join(dir, probeA)
	if err := d.Put(name, nil, false); err != nil {
		return false, err
	}
	before, err := d.Look(name)
	if err != nil {
		return false, err
	}
	if err := d.FS.Chmod(name, before.Mode&^0o222); err != nil && !IsUnsupported(err) {
		return false, err
	}
	after, err := d.Look(name)
	if err == nil && after.Mode != before.Mode {
		err = d.FS.Chmod(name, before.Mode)
	}
	if err != nil {
		return false, err
	}
	return after.Mode != before.Mode, d.Remove(name)
}
