package disk

import (
	"path"
	"sync"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
)

// linkTimes records whether times of symbolic links can be set.
type linkTimes struct {
	mu    sync.Mutex
	dir   string // a directory for the test, "" before Probe
	known bool
	set   bool // whether they can be set
}

// LinkTime sets the time of a symbolic link if that is possible. Before Probe it does nothing. Some mounts, such as
// sshfs, set the time of the link's target instead: there, links keep their creation time.
func (d *Disk) LinkTime(name string, t time.Time) error {
	timer, ok := d.FS.(capability.LinkTimer)
	if !ok || t.IsZero() {
		return nil
	}
	if can, err := d.setsLinkTimes(timer); err != nil || !can {
		return err
	}
	if err := timer.LinkTimes(name, t.UnixNano()); !IsUnsupported(err) {
		return err
	}
	return nil
}

// setsLinkTimes tests it once, with a dangling link: a mount that follows the link fails.
func (d *Disk) setsLinkTimes(timer capability.LinkTimer) (bool, error) {
	d.links.mu.Lock()
	defer d.links.mu.Unlock()
	if d.links.known || d.links.dir == "" {
		return d.links.set, nil
	}
	link := path.Join(d.links.dir, probeL)
	s, err := d.Look(link)
	if err == nil && s.Kind != change.Absent {
		err = d.Remove(link) // left by a failed test
	}
	if err != nil {
		return false, err
	}
	if _, err := d.Symlink(link, change.State{Kind: change.Symlink, Target: probeB}); err != nil {
		return false, err
	}
	err = timer.LinkTimes(link, 0)
	set := err == nil
	if err != nil && !IsAbsent(err) && !IsUnsupported(err) {
		return false, err
	}
	if err := d.Remove(link); err != nil {
		return false, err
	}
	d.links.known, d.links.set = true, set
	return set, nil
}
