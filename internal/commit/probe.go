package commit

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/millrace-go/millrace/fsutil"
)

// probe finds out in dir, an empty directory, what the file system can really do there, by doing it. What it says it
// cannot is not used; any other failure is one of the disk, and returned.
func (d *disk) probe(dir string) error {
	a, b := path.Join(dir, "probe-a"), path.Join(dir, "probe-b")
	if err := d.probeDirSync(dir); err != nil && !isUnsupported(err) {
		return err
	}
	for _, name := range []string{a, b} {
		if err := d.touch(name); err != nil {
			return err
		}
	}
	for _, try := range []func(a, b string) error{d.probeExchange, d.probeNoReplace, d.probeLink} {
		if err := try(a, b); err != nil && !isUnsupported(err) {
			return err
		}
	}
	if err := d.remove(a); err != nil {
		return err
	}
	return d.remove(b)
}

// abilities lists what probe has found.
func (d *disk) abilities() []string {
	can := []string{}
	for _, a := range []struct {
		has  bool
		name string
	}{{d.exchange != nil, "exchange"}, {d.link != nil, "link"}, {d.noReplace != nil, "no_replace"}} {
		if a.has {
			can = append(can, a.name)
		}
	}
	return can
}

// adopt takes what another process has found for true, as far as this view of the file system has it at all.
func (d *disk) adopt(can []string) {
	for _, name := range can {
		switch name {
		case "exchange":
			d.exchange, _ = d.fs.(fsutil.Exchanger)
		case "link":
			d.link, _ = d.fs.(fsutil.Linker)
		case "no_replace":
			d.noReplace, _ = d.fs.(fsutil.NoReplacer)
		}
	}
}

func (d *disk) touch(name string) error {
	f, err := d.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(path.Base(name)); err != nil {
		_ = f.Close() // the write has failed already
		return err
	}
	return f.Close()
}

func (d *disk) probeDirSync(dir string) error {
	s, ok := d.fs.(fsutil.DirSyncer)
	if !ok || !d.sync {
		return nil
	}
	if err := s.SyncDir(dir); err != nil {
		return err
	}
	d.dirSync = s
	return nil
}

// probeExchange looks at the bytes: an implementation over another one may have renamed.
func (d *disk) probeExchange(a, b string) error {
	x, ok := d.fs.(fsutil.Exchanger)
	if !ok {
		return nil
	}
	if d.fast != nil {
		x = d.fast
	}
	before, _, err := d.hash(a, int64(len(path.Base(a))))
	if err != nil {
		return err
	}
	if err := x.Exchange(a, b); err != nil {
		return err
	}
	after, _, err := d.hash(b, int64(len(path.Base(b))))
	if err != nil {
		return err
	}
	if s, err := d.lstat(a); err != nil || s.Kind != fsutil.File {
		return err
	}
	if before == after {
		d.exchange = x
	}
	return nil
}

func (d *disk) probeNoReplace(a, b string) error {
	n, ok := d.fs.(fsutil.NoReplacer)
	if !ok {
		return nil
	}
	switch err := n.RenameNoReplace(a, b); {
	case err == nil:
		return d.touch(a) // it has replaced b after all
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	d.noReplace = n
	return nil
}

// probeLink believes in links only where two names of a file can be told to be that.
func (d *disk) probeLink(a, _ string) error {
	l, ok := d.fs.(fsutil.Linker)
	if !ok {
		return nil
	}
	if d.fast != nil {
		l = d.fast
	}
	c := path.Join(path.Dir(a), "probe-c")
	if err := l.Link(a, c); err != nil {
		return err
	}
	one, err := d.lstat(a)
	if err != nil {
		return err
	}
	two, err := d.lstat(c)
	if err != nil {
		return err
	}
	if one.ID.SameFile(two.ID) {
		d.link = l
	}
	return d.remove(c)
}
