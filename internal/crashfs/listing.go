package crashfs

import (
	"strconv"

	"github.com/millrace-go/millrace/internal/names"
)

// Listing describes everything that a program sees, except the path except and everything below it. It has one line for
// each path, in order, with mode, content and attributes. Lines of files and links also have the modification time,
// and, if the file system has identities and links, the number of the inode. Two listings are equal if no program can
// distinguish the trees, apart from times and numbers of directories.
func (f *Fs) Listing(except string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b []byte
	number := func(i *inode) {
		if f.lacks&(Links|Identities) == 0 {
			b = strconv.AppendUint(append(b, " #"...), i.number, 10)
		}
	}
	var walk func(dir int, at string)
	walk = func(dir int, at string) {
		for _, n := range f.inodes[dir].names {
			name := names.Join(at, n.text)
			if name == except {
				continue
			}
			i := &f.inodes[n.inode]
			b = append(b, name...)
			switch {
			case f.isDir(n.inode):
				b = append(append(append(append(b, "/ "...), i.now.mode.Perm().String()...), ' '), i.now.attr...)
			case f.isLink(n.inode):
				b = append(append(append(b, " -> "...), i.now.data...), ' ')
				b = strconv.AppendInt(b, i.now.mtime.UnixNano(), 10)
				number(i)
			default:
				b = append(append(append(b, ' '), (i.now.mode&settable).String()...), ' ')
				b = append(strconv.AppendQuote(b, string(i.now.data)), ' ')
				b = strconv.AppendInt(b, i.now.mtime.UnixNano(), 10)
				number(i)
				b = append(append(b, ' '), i.now.attr...)
			}
			b = append(b, '\n')
			if f.isDir(n.inode) {
				walk(n.inode, name)
			}
		}
	}
	walk(0, ".")
	return string(b)
}

// Names returns the names in a directory, nil if the directory is missing.
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
