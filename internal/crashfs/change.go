package crashfs

import (
	"slices"
)

// change is an operation on names that is not on the disk yet. It reaches the disk as a whole or not at all.
type change struct {
	slots []slot
	// emptied is the directory that it removes, otherwise nowhere: everything that was taken out of it before must reach
	// the disk first.
	emptied int
}

// slot is a name in a directory that points to another inode, or nowhere, after a change.
type slot struct {
	dir  int
	text string
	to   int
}

// apply carries out a change and records that it is not on the disk.
func (d *disk) apply(c change) {
	for _, s := range c.slots {
		dir := &d.inodes[s.dir]
		dir.names = with(dir.names, s.text, s.to)
		dir.now.mtime = d.tick()
		dir.now.ctime = d.now
	}
	d.pending = append(d.pending, c)
}

// write carries out a change on the disk.
func (d *disk) write(c change) {
	for _, s := range c.slots {
		dir := &d.inodes[s.dir]
		dir.certain = with(dir.certain, s.text, s.to)
	}
}

// needs reports whether c can only reach the disk after an earlier change: both concern the same name, or c removes a
// directory in which the earlier one changed something.
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

// syncNames makes the names in a directory durable, with the changes they need, and also the links in it completely,
// because links cannot be synced in another way.
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

// syncInode makes everything of a file except its names durable, unless an earlier sync of it has failed.
func (d *disk) syncInode(i int) {
	if n := &d.inodes[i]; !n.lost {
		n.onDisk = n.now
	}
}

// Settle makes everything durable, as after a while without writes.
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
