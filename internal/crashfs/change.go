package crashfs

import (
	"slices"
)

// change is an operation on names that is not on the disk yet. All of it gets there, or nothing.
type change struct {
	slots []slot
	// emptied is the directory that it removes, nowhere otherwise: everything that was taken out of it before has to
	// get to the disk first.
	emptied int
}

// slot is a name in a directory that leads to another inode, or nowhere, with a change.
type slot struct {
	dir  int
	text string
	to   int
}

// apply carries a change out and remembers that it is not on the disk.
func (d *disk) apply(c change) {
	for _, s := range c.slots {
		dir := &d.inodes[s.dir]
		dir.names = with(dir.names, s.text, s.to)
		dir.now.mtime = d.tick()
		dir.now.ctime = d.now
	}
	d.pending = append(d.pending, c)
}

// write carries a change out on the disk.
func (d *disk) write(c change) {
	for _, s := range c.slots {
		dir := &d.inodes[s.dir]
		dir.certain = with(dir.certain, s.text, s.to)
	}
}

// needs reports whether c cannot get to the disk before an earlier change has: they are about one name, or c removes a
// directory in which that changed something.
func (c change) needs(earlier change) bool {
	for _, e := range earlier.slots {
		if e.dir == c.emptied {
			return true
		}
		for _, s := range c.slots {
			if s.dir == e.dir && s.text == e.text {
				return true
			}
		}
	}
	return false
}

func (c change) touches(dir int) bool {
	return slices.ContainsFunc(c.slots, func(s slot) bool { return s.dir == dir })
}

// syncNames makes the names in a directory certain, with whatever that needs, and the links in it as a whole: they
// cannot be synced in another way.
func (d *disk) syncNames(dir int) {
	keep := make([]bool, len(d.pending))
	for i := len(d.pending) - 1; i >= 0; i-- {
		keep[i] = keep[i] || d.pending[i].touches(dir)
		for j := range i {
			keep[j] = keep[j] || keep[i] && d.pending[i].needs(d.pending[j])
		}
	}
	var left []change
	for i, c := range d.pending {
		if keep[i] {
			d.write(c)
		} else {
			left = append(left, c)
		}
	}
	d.pending = left
	for _, n := range d.inodes[dir].names {
		if d.isLink(n.inode) {
			d.syncInode(n.inode)
		}
	}
}

// syncInode makes everything of a file but its names certain, unless a sync of it has failed before.
func (d *disk) syncInode(i int) {
	if n := &d.inodes[i]; !n.lost {
		n.onDisk = n.now
	}
}

// Settle makes everything certain, as if nothing had been written for a while.
func (f *Fs) Settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.pending {
		f.write(c)
	}
	f.pending = nil
	for i := range f.inodes {
		f.inodes[i].lost = false
		f.syncInode(i)
	}
}
