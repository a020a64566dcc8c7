package crashfs

import (
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/millrace-go/millrace/internal/names"
)

// Fs is the file system. It has all the abilities that fsutil knows but that of opening directories for walking.
type Fs struct {
	*disk
	hooks *hooks
}

// hooks are not copied with the disk: a process that was killed watches nothing.
type hooks struct {
	mu     sync.Mutex
	n      int
	before func(Op) error
}

// Op is an operation that is about to be carried out.
type Op struct {
	// N counts the operations from 1.
	N int
	// Name is what it does: "open", "create", "write", "truncate", "sync", "close", "read", "readdir", "lstat", "stat",
	// "readlink", "mkdir", "remove", "rename", "exchange", "link", "symlink", "chmod", "chtimes", "copymeta",
	// "syncdir".
	Name string
	// Path is the path of the operation; if it has two paths, the path that is made.
	Path string
	// Writes reports whether it changes the tree, or changes which part of the tree is synced.
	Writes bool
}

// ErrTorn lets a write put half of its bytes before it fails. Wrap it, or return it, from the function given to Before.
const ErrTorn = tornError("torn write")

type tornError string

func (e tornError) Error() string { return string(e) }

// disk is the state of everything. Copying one is cheap: whatever it refers to is replaced and never changed.
type disk struct {
	mu      *sync.Mutex // held while anything below is used; not while hooks are called, which use the file system too
	inodes  []inode     // by index; the first is the root
	pending []change
	now     int64 // the clock, in milliseconds; each operation takes one
	lacks   Ability
	mounts  []string // canonical paths, replaced and never changed
}

// inode is a file, directory or link.
type inode struct {
	number  uint64 // as the program sees it; a free one is given to the next file
	nlink   int
	open    int // handles
	now     content
	onDisk  content
	names   []name // of a directory, in order, as the program sees them
	certain []name // of a directory: those on the disk
	// lost means that a sync has failed. The system then forgets the pending writes, and later syncs are worth nothing.
	lost bool
}

// content is all of a file but its names.
type content struct {
	mode  fs.FileMode
	mtime time.Time
	ctime int64
	data  []byte // the target of a link
	attr  string // stands for owner, extended attributes and all that
}

// name is an entry of a directory.
type name struct {
	text  string
	inode int
}

// start returns the time that the clock begins at. It is in the past, so that nothing looks as if just written.
func start() time.Time { return time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC) }

// New returns an empty file system.
func New() *Fs {
	d := &disk{mu: new(sync.Mutex)}
	root := d.newInode(fs.ModeDir|0o755, nil)
	d.inodes[root].nlink = 2
	d.inodes[root].onDisk = d.inodes[root].now
	return &Fs{d, &hooks{}}
}

// Before sets what is called before each operation from now on, with the count begun anew. If it returns an error, the
// operation fails with that and nothing is done. Nil means that nothing is called.
func (f *Fs) Before(do func(Op) error) {
	f.hooks.mu.Lock()
	defer f.hooks.mu.Unlock()
	f.hooks.n, f.hooks.before = 0, do
}

// Count returns the number of operations since Before.
func (f *Fs) Count() int {
	f.hooks.mu.Lock()
	defer f.hooks.mu.Unlock()
	return f.hooks.n
}

// Unwatched returns the same file system as another program sees it: its operations are not counted and not reported.
func (f *Fs) Unwatched() *Fs { return &Fs{f.disk, &hooks{}} }

// Kill returns a copy of the file system as the next process finds it if this one is killed now.
func (f *Fs) Kill() *Fs {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := *f.disk
	d.mu = new(sync.Mutex)
	d.inodes = slices.Clone(d.inodes)
	for i := range d.inodes {
		d.inodes[i].open = 0
	}
	d.pending = slices.Clip(d.pending)
	return &Fs{&d, &hooks{}}
}

// Name returns the name of the package.
func (f *Fs) Name() string { return "crashfs" }

func (f *Fs) begin(op, path string, writes bool) error {
	f.hooks.mu.Lock()
	f.hooks.n++
	n, before := f.hooks.n, f.hooks.before
	f.hooks.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(Op{n, op, path, writes})
}

// newInode makes an inode that has no name yet, with a number that no other has.
func (d *disk) newInode(mode fs.FileMode, data []byte) int {
	d.inodes = append(d.inodes, inode{number: d.freeNumber()})
	i := len(d.inodes) - 1
	d.inodes[i].now = content{mode: mode, data: data, mtime: d.tick(), ctime: d.now}
	// An inode whose creation is not on the disk has nothing there, not even a mode.
	d.inodes[i].onDisk = content{mode: mode.Type(), mtime: start()}
	if mode&fs.ModeSymlink != 0 {
		d.inodes[i].onDisk.data = data // it is in the inode, and made with it
	}
	return i
}

// freeNumber returns the lowest number that no file has which is there, may be there after a crash, or is open.
func (d *disk) freeNumber() uint64 {
	used := make([]bool, len(d.inodes)+2)
	take := func(i int) {
		if i != nowhere {
			used[d.inodes[i].number] = true
		}
	}
	for i := range d.inodes {
		if i == 0 || d.inodes[i].open > 0 {
			take(i)
		}
		for _, list := range [][]name{d.inodes[i].names, d.inodes[i].certain} {
			for _, n := range list {
				take(n.inode)
			}
		}
	}
	for _, c := range d.pending {
		for _, s := range c.slots {
			take(s.to)
		}
	}
	for number := 1; ; number++ {
		if !used[number] {
			return uint64(number)
		}
	}
}

func (d *disk) tick() time.Time {
	d.now++
	return start().Add(time.Duration(d.now) * time.Millisecond)
}

func (d *disk) isDir(i int) bool { return d.inodes[i].now.mode.IsDir() }

func (d *disk) isLink(i int) bool { return d.inodes[i].now.mode&fs.ModeSymlink != 0 }

// nowhere marks a missing inode.
const nowhere = -1

func find(list []name, text string) (int, bool) {
	return slices.BinarySearchFunc(list, text, func(n name, t string) int { return strings.Compare(n.text, t) })
}

func lookup(list []name, text string) int {
	if at, ok := find(list, text); ok {
		return list[at].inode
	}
	return nowhere
}

// with returns a list that leads from text to the inode, or to nothing.
func with(list []name, text string, to int) []name {
	at, ok := find(list, text)
	switch {
	case ok && to == nowhere:
		return slices.Concat(list[:at], list[at+1:])
	case ok:
		list = slices.Clone(list)
		list[at].inode = to
		return list
	case to == nowhere:
		return list
	}
	return slices.Concat(list[:at], []name{{text, to}}, list[at:])
}

// place is where a path leads to.
type place struct {
	dir   int    // nowhere for the root
	text  string // the name in it
	inode int    // nowhere if there is nothing
}

const maxLinks = 40

// resolve walks along a path. A link at its end is followed if that is asked for.
func (d *disk) resolve(path string, follow bool) (place, error) {
	clean, err := names.Clean(path)
	if err != nil {
		return place{}, bare(err)
	}
	mustBeDir := strings.HasSuffix(path, "/")
	trail := make([]place, 0, 8)
	at, links := place{dir: nowhere, inode: 0}, 0
	for part, rest, more := "", clean, true; more; {
		part, rest, more = strings.Cut(rest, "/")
		switch part {
		case ".", "":
			continue
		case "..":
			if len(trail) == 0 {
				return place{}, names.ErrEscape
			}
			at, trail = trail[len(trail)-1], trail[:len(trail)-1]
			continue
		}
		if at.inode == nowhere {
			return place{}, syscall.ENOENT
		}
		if !d.isDir(at.inode) {
			return place{}, syscall.ENOTDIR
		}
		next := place{at.inode, part, lookup(d.inodes[at.inode].names, part)}
		if next.inode != nowhere && d.isLink(next.inode) && (follow || more) {
			if links++; links > maxLinks {
				return place{}, syscall.ELOOP
			}
			target := string(d.inodes[next.inode].now.data)
			if strings.HasPrefix(target, "/") {
				return place{}, names.ErrEscape
			}
			if more {
				target += "/" + rest
			}
			rest, more = target, true
			continue
		}
		trail = append(trail, at)
		at = next
	}
	if mustBeDir && at.inode != nowhere && !d.isDir(at.inode) {
		return place{}, syscall.ENOTDIR
	}
	return at, nil
}
