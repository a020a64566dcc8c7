package crashfs

import (
	"io/fs"
	"math/rand/v2"
	"slices"
)

// block is the number of bytes written at once.
const block = 16

// PowerCut returns a copy of the file system in a state that the machine may find after a power failure now. Of the
// changes that were not synced, the fraction loss is gone, from 0 to 1. rnd selects these changes, and the remaining
// parts of torn files.
func (f *Fs) PowerCut(rnd *rand.Rand, loss float64) *Fs {
	after := f.Kill()
	d := after.disk
	d.dropChanges(rnd, loss)
	for i := range d.inodes {
		n := &d.inodes[i]
		n.onDisk = n.tear(rnd, loss)
		n.now, n.names, n.lost = n.onDisk, n.certain, false
	}
	d.countLinks()
	return after
}

// dropChanges decides for each pending change whether it reaches the disk.
func (d *disk) dropChanges(rnd *rand.Rand, loss float64) {
	var dropped []change
	for _, c := range d.pending {
		if rnd.Float64() < loss || slices.ContainsFunc(dropped, c.needs) {
			dropped = append(dropped, c)
		} else {
			d.write(c)
		}
	}
	d.pending = nil
}

// tear returns the state of a file on the disk.
func (n *inode) tear(rnd *rand.Rand, loss float64) content {
	old, now := n.onDisk, n.now
	c := now
	if rnd.Float64() < loss {
		c.mode = old.mode
	}
	if rnd.Float64() < loss {
		c.mtime = old.mtime
	}
	if rnd.Float64() < loss {
		c.attr = old.attr
	}
	if c.mode.Type() == fs.ModeSymlink || sameBytes(old.data, now.data) {
		return c
	}
	size := len(now.data)
	if rnd.Float64() < loss {
		size = len(old.data)
		if more := len(now.data) - size; more > 0 && rnd.IntN(2) == 0 {
			size += rnd.IntN(more + 1)
		}
	}
	c.data = make([]byte, size)
	for at := 0; at < size; at += block {
		end := min(at+block, size)
		switch {
		case rnd.Float64() >= loss:
			copyBlock(c.data[at:end], now.data, at)
		case rnd.IntN(2) == 0:
			copyBlock(c.data[at:end], old.data, at)
		default:
			copySynced(c.data[at:end], old.data, now.data, at)
		}
	}
	return c
}

// sameBytes reports whether two slices are identical, or both empty: data is replaced when it changes.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func copyBlock(to, from []byte, at int) {
	if at < len(from) {
		copy(to, from[at:])
	}
}

// copySynced copies the synced bytes that have not changed since. After an append, a block has such bytes.
func copySynced(to, old, now []byte, at int) {
	for i := range to {
		if at+i < min(len(old), len(now)) && old[at+i] == now[at+i] {
			to[i] = old[at+i]
		}
	}
}

// countLinks counts the names of each inode again.
func (d *disk) countLinks() {
	for i := range d.inodes {
		d.inodes[i].nlink = 0
	}
	d.inodes[0].nlink = 2
	var walk func(dir int)
	walk = func(dir int) {
		for _, n := range d.inodes[dir].names {
			if d.isDir(n.inode) {
				d.inodes[dir].nlink++
				d.inodes[n.inode].nlink++
				if d.inodes[n.inode].nlink == 1 {
					d.inodes[n.inode].nlink = 2
					walk(n.inode)
				}
				continue
			}
			d.inodes[n.inode].nlink++
		}
	}
	walk(0)
}
