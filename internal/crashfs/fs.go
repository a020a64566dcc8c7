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

// Fs is the file system. It has all abilities in fsutil except opening directories for walking.
type Fs struct {
	*disk
	hooks *hooks
}

// hooks are not copied with the disk: a killed process watches nothing.
type hooks struct {
	mu     sync.Mutex
	n      int
	before func(Op) error
}

// Op is an operation before it is carried out.
type Op struct {
	// N counts the operations from 1.
	N int
	// Name is the operation: "open", "create", "write", "truncate", "sync", "close", "read", "readdir", "lstat", "stat",
	// "readlink", "mkdir", "remove", "rename", "exchange", "link", "symlink", "chmod", "chtimes", "copymeta", "syncdir".
	Name string
	// Path is the path of the operation; for two paths, the path that is made.
	Path string
	// Writes means that it changes the tree, or changes which part of the tree is synced.
	Writes bool
}

// ErrTorn makes a write store half of its bytes before it fails. The function passed to Before returns it, or wraps it.
const ErrTorn = tornError("torn write")

type tornError string

func (e tornError) Error() string { return string(e) }

// disk is the whole state. Copying it is cheap, because everything it refers to is replaced instead of changed.
type disk struct {
	mu      *sync.Mutex // held while the fields below are used; not while hooks are called, which use the file system too
	inodes  []inode     // by index; the first is the root
	pending []change
	now     int64 // the clock, in milliseconds; each operation takes one
	lacks   Ability
	mounts  []string // canonical paths; the slice is replaced, never changed
}

// inode is a file, directory or link.
type inode struct {
	number  uint64 // as programs see it; a free number is reused for the next file
	nlink   int
	open    int // handles
	now     content
	onDisk  content
	names   []name // of a directory: the names that programs see, in order
	certain []name // of a directory: the names on the disk
	// lost means that a sync has failed. The system then forgets the pending writes, and later syncs have no effect.
	lost bool
}

// content is everything of a file except its names.
type content struct {
	mode  fs.FileMode
	mtime time.Time
	ctime int64
	data  []byte // for a link: its target
	attr  string // represents owner, extended attributes and similar data
}

// name is an entry of a directory.
type name struct {
	text  string
	inode int
}

// start returns the start time of the clock. It is in the past, so that nothing looks just written.
func start() time.Time { return time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC) }

// New returns an empty file system.
func New() *Fs {
	d := &disk{mu: new(sync.Mutex)}
	root := d.newInode(fs.ModeDir|0o755, nil)
	d.inodes[root].nlink = 2
	d.inodes[root].onDisk = d.inodes[root].now
	return &Fs{d, &hooks{}}
}

// Before sets the function that is called before each operation from now on, and restarts the count. If it returns an
// error, the operation fails with it and has no effect. Nil means no function.
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

// Unwatched returns a view of the same file system for another program: its operations are neither counted nor
// reported.
func (f *Fs) Unwatched() *Fs { return &Fs{f.disk, &hooks{}} }

// Kill returns a copy of the file system in the state that the next process finds if this one is killed now.
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

// newInode makes an inode without a name, with an unused number.
func (d *disk) newInode(mode fs.FileMode, data []byte) int {
	d.inodes = append(d.inodes, inode{number: d.freeNumber()})
	i := len(d.inodes) - 1
	d.inodes[i].now = content{mode: mode, data: data, mtime: d.tick(), ctime: d.now}
	// An inode whose creation is not on the disk has nothing there, not even a mode.
	d.inodes[i].onDisk = content{mode: mode.Type(), mtime: start()}
	if mode&fs.ModeSymlink != 0 {
		d.inodes[i].onDisk.data = data // the target is in the inode, and is made with it
	}
	return i
}

// freeNumber returns the lowest number that is not used by a file that exists, may exist after a crash, or is open.
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

// with returns a copy of the list in which text points to the inode, or is removed if to is nowhere.
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

// place is the end of a path.
type place struct {
	dir   int    // nowhere for the root
	text  string // the name in dir
	inode int    // nowhere if there is nothing
}

const maxLinks = 40

// resolve follows a path. It follows a link at the end of the path if follow is set.
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
