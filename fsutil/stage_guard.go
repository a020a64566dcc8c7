package fsutil

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Guard is the policy of the host over the paths of a stage. It is applied to the path that is left when all symbolic
// links on the way are resolved. The zero Guard allows everything but writing to version control directories.
type Guard struct {
	// Allowed are the files and directories, canonical, that may be read and written, with all below them. The
	// directories above them may be looked at and listed, but show nothing that does not lead to them. Empty means the
	// whole tree.
	Allowed []string
	// Reserved is the canonical path of the state directory: it is not listed, and all that goes there is ErrReserved.
	// Names that a file system may take for the same (other case, dots or spaces at the end) are reserved too. Empty
	// means there is none.
	Reserved string
	// Portable refuses to write to names that cannot exist on Windows, also if they exist here, with [ErrNotPortable].
	Portable bool
}

// access is what an operation wants to do with a path.
type access uint8

const (
	look  access = iota // stat it, list it
	read                // read its bytes
	write               // change it in any way
)

// guard is a Guard made ready for use. It is immutable.
type guard struct {
	allowed  []string
	reserved string // folded
	portable bool
}

func newGuard(g Guard) guard {
	made := guard{allowed: slices.Clone(g.Allowed), portable: g.Portable}
	if g.Reserved != "" {
		made.reserved = foldPath(g.Reserved)
	}
	return made
}

// check returns what speaks against the access to the canonical, resolved path.
func (g *guard) check(name string, a access) error {
	if g.reserved != "" && Within(foldPath(name), g.reserved) {
		return ErrReserved
	}
	if !g.allows(name) && (a != look || !g.leadsToAllowed(name)) {
		return ErrNotAllowed
	}
	if a == write && isProtected(name) {
		return ErrProtected
	}
	if a == write && g.portable {
		return checkPortable(name)
	}
	return nil
}

func (g *guard) allows(name string) bool {
	within := func(dir string) bool { return Within(name, dir) }
	return len(g.allowed) == 0 || slices.ContainsFunc(g.allowed, within)
}

func (g *guard) leadsToAllowed(name string) bool {
	return slices.ContainsFunc(g.allowed, func(a string) bool { return Within(a, name) })
}

// holdsReserved reports whether the reserved directory lies, or would lie, below the directory.
func (g *guard) holdsReserved(dir string) bool {
	return g.reserved != "" && Within(g.reserved, foldPath(dir))
}

// filters reports whether some names in the directory may have to be left out of its listing.
func (g *guard) filters(dir string) bool {
	return g.reserved != "" && foldPath(dir) == path.Dir(g.reserved) || !g.allows(dir)
}

// shows reports whether the path may appear in the listing of its directory.
func (g *guard) shows(name string) bool { return g.check(name, look) == nil }

// vcsNames are the directories of version control systems, and the short names that FAT and NTFS make of them.
func isVCSName(folded string) bool {
	switch folded {
	case ".git", ".hg", ".svn", ".jj", ".bzr", "git~1", "hg~1", "svn~1", "jj~1", "bzr~1":
		return true
	}
	return false
}

// isProtected reports whether the path is, or lies in, a version control directory.
func isProtected(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if isVCSName(foldName(part)) {
			return true
		}
	}
	return false
}

// foldPath folds each part of a path, see foldName.
func foldPath(name string) string {
	if isFolded(name) {
		return name
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = foldName(part)
	}
	return strings.Join(parts, "/")
}

// foldName returns what the names have in common that some file system takes for one: NTFS, FAT, HFS+ and APFS ignore
// case, Windows drops dots and spaces at the end and takes what follows a colon for a stream of the file, HFS+ leaves
// some code points out. Git guards .git by the same rules.
func foldName(name string) string {
	if name == "." || name == ".." || isFolded(name) {
		return name
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}

// isFolded reports whether folding would surely leave the path as it is; most paths are like that.
func isFolded(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= utf8.RuneSelf, c >= 'A' && c <= 'Z', c == ':':
			return false
		case (c == '.' || c == ' ') && (i+1 == len(name) || name[i+1] == '/'):
			return name == "."
		}
	}
	return true
}
