package crashfs

import (
	"fmt"
	"path"
	"strings"
)

// Listing describes all that a program sees, but for what is at the path except and below it: a line a path, in
// order, with mode, content and attributes, of files and links also the time of modification, and the number of the
// inode where files can be told apart and have second names. Two listings are equal if no program can tell the trees
// apart, times and numbers of directories left aside.
func (f *Fs) Listing(except string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	number := func(i *inode) string {
		if f.lacks&(Links|Identities) != 0 {
			return ""
		}
		return fmt.Sprintf(" #%d", i.number)
	}
	var walk func(dir int, at string)
	walk = func(dir int, at string) {
		for _, n := range f.inodes[dir].names {
			name := path.Join(at, n.text)
			if name == except {
				continue
			}
			i := &f.inodes[n.inode]
			switch {
			case f.isDir(n.inode):
				fmt.Fprintf(&b, "%s/ %v %s\n", name, i.now.mode.Perm(), i.now.attr)
				walk(n.inode, name)
			case f.isLink(n.inode):
				fmt.Fprintf(&b, "%s -> %s %d%s\n", name, i.now.data, i.now.mtime.UnixNano(), number(i))
			default:
				fmt.Fprintf(&b, "%s %v %q %d%s %s\n", name, i.now.mode&settable, i.now.data, i.now.mtime.UnixNano(), number(i), i.now.attr)
			}
		}
	}
	walk(0, ".")
	return b.String()
}

// Names returns the names in a directory, nil if there is no such directory.
func (f *Fs) Names(dir string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(dir, false)
	if err != nil || at.inode == nowhere {
		return nil
	}
	var names []string
	for _, n := range f.inodes[at.inode].names {
		names = append(names, n.text)
	}
	return names
}
