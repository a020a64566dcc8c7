// Package guard checks paths against the policy of the host: allowed, denied, read-only, reserved or protected paths.
package guard

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/names"
)

// Policy is the policy of the host for the paths of a stage. It applies to the path after the resolution of all
// symbolic links. The zero Policy allows everything except writing to version control directories.
//
// Names are compared as on the most tolerant file system: ignoring case, the forms of Unicode, invisible characters,
// and dots and spaces at the end. So a rule also holds for other spellings under which such a file system finds the
// same file.
type Policy struct {
	// Allowed are the AllowedPaths of the host, canonical: nil for the whole tree, empty for nothing. The directories
	// above them may be looked at and listed, but show only entries that lead to allowed paths.
	Allowed []string
	// Reserved is the canonical path of the state directory: it is not listed, and every access to it is ErrReserved. The
	// same holds for this path, or the name ".millrace", in any other directory: the state of another tree inside this
	// tree. Empty means no such path.
	Reserved string
	// Closed are further canonical paths, each with everything below it, that are treated like the state directory, but
	// only at these exact paths.
	Closed []string
	// Pinned are canonical paths of links that lead to a closed path, or away from a closed path. The links and their
	// directories cannot be changed; the targets of the links may be written to.
	Pinned []string
	// Denied and ReadOnly are the globs of DeniedPaths and ReadOnlyPaths of the host. An invalid glob matches every path,
	// see [Policy.Validate].
	Denied, ReadOnly []string
	// Portable is the PortableNames of the host. It also applies to existing names.
	Portable bool
}

// stateName is the default name of a state directory.
const stateName = ".millrace"

// Access is the kind of access to a path.
type Access uint8

const (
	Look  Access = iota // stat it, list it
	Read                // read its bytes
	Write               // change it in any way
)

// Guard is a compiled [Policy]. It is immutable.
type Guard struct {
	allowed  []string
	state    string   // folded path of the state directory, "" if there is none
	reserved []string // folded paths that are reserved in every directory
	closed   []string // folded
	pinned   []string // folded
	denied   []glob
	readOnly []glob
	portable bool
}

// New compiles a policy.
func New(g Policy) Guard {
	made := Guard{
		allowed: slices.Clone(g.Allowed), denied: newGlobs(g.Denied), readOnly: newGlobs(g.ReadOnly),
		portable: g.Portable,
	}
	if g.Reserved != "" {
		made.state = names.FoldPath(g.Reserved)
		made.reserved = []string{made.state}
		if made.state != stateName {
			made.reserved = append(made.reserved, stateName)
		}
	}
	for _, name := range g.Closed {
		made.closed = append(made.closed, names.FoldPath(name))
	}
	for _, name := range g.Pinned {
		made.pinned = append(made.pinned, names.FoldPath(name))
	}
	return made
}

// Check returns the reason why the access to the canonical, resolved path is refused, nil if it is not.
func (g *Guard) Check(name string, a Access) error {
	if err := g.closes(name); err != nil {
		return err
	}
	if !g.allows(name) && (a != Look || !g.LeadsToAllowed(name)) {
		return g.notAllowed()
	}
	if a != Write {
		return nil
	}
	if err := g.protects(name); err != nil {
		return err
	}
	if g.portable {
		return names.CheckPortable(name)
	}
	return nil
}

// closes returns an error if no access to the path is allowed, not even through a link.
func (g *Guard) closes(name string) error {
	switch {
	case g.isReserved(name):
		return names.ErrReserved
	case anyTakesAt(g.denied, name):
		return names.ErrDenied
	}
	return nil
}

// protects returns an error if the path may only be read.
func (g *Guard) protects(name string) error {
	switch {
	case names.IsProtected(name):
		return names.ErrProtected
	case len(g.pinned) > 0 && slices.Contains(g.pinned, names.FoldPath(name)):
		return names.ErrReserved
	case anyTakesAt(g.readOnly, name):
		return names.ErrReadOnlyPath
	}
	return nil
}

// Keeps returns an error if the path may not be removed or changed, under any name.
func (g *Guard) Keeps(name string) error { return cmp.Or(g.closes(name), g.protects(name)) }

// CheckLink is Check for the access through a symbolic link at the canonical path. The link's target is checked
// separately.
func (g *Guard) CheckLink(name string, a Access) error {
	err := g.closes(name)
	if err == nil && a == Write && anyTakesAt(g.readOnly, name) {
		err = names.ErrReadOnlyPath
	}
	return err
}

// isReserved reports whether the path belongs to a state directory, of this tree or of a tree inside it, or is closed.
func (g *Guard) isReserved(name string) bool {
	if len(g.reserved) == 0 && len(g.closed) == 0 {
		return false
	}
	folded := names.FoldPath(name)
	return slices.ContainsFunc(g.reserved, func(parts string) bool { return names.Passes(folded, parts) }) ||
		slices.ContainsFunc(g.closed, func(dir string) bool { return names.Within(folded, dir) })
}

// notAllowed returns ErrNotAllowed with the allowed paths.
func (g *Guard) notAllowed() error {
	if len(g.allowed) == 0 {
		return fmt.Errorf("%w: no path is", names.ErrNotAllowed)
	}
	return fmt.Errorf("%w: %s", names.ErrNotAllowed, names.Few(g.allowed, ", "))
}

func (g *Guard) allows(name string) bool {
	within := func(dir string) bool { return names.Within(name, dir) }
	return g.allowed == nil || slices.ContainsFunc(g.allowed, within)
}

// LeadsToAllowed reports whether an allowed path is the directory or below it.
func (g *Guard) LeadsToAllowed(name string) bool {
	return slices.ContainsFunc(g.allowed, func(a string) bool { return names.Within(a, name) })
}

// HoldsReserved reports whether the state directory, a closed path, or a pinned link is or would be below the
// directory. Only a directory may be made at such a path.
func (g *Guard) HoldsReserved(dir string) bool {
	if g.state == "" && len(g.closed) == 0 && len(g.pinned) == 0 {
		return false
	}
	folded := names.FoldPath(dir)
	within := func(name string) bool { return names.Within(name, folded) }
	return g.state != "" && within(g.state) ||
		slices.ContainsFunc(g.closed, within) || slices.ContainsFunc(g.pinned, within)
}

// Filters reports whether any name in the directory may have to be omitted from its listing, apart from state
// directories, see [Guard.Hides].
func (g *Guard) Filters(dir string) bool {
	return !g.allows(dir) || len(g.denied) > 0 || len(g.closed) > 0
}

// Hides reports whether a name in a directory, which may be listed, belongs to a state directory.
func (g *Guard) Hides(dir, name string) bool {
	if name == "" {
		return false
	}
	for _, parts := range g.reserved {
		last := path.Base(parts)
		if c := name[0] | 0x20; c != last[0] && name[0] < utf8.RuneSelf && last[0] < utf8.RuneSelf {
			continue // most names end here
		}
		if names.FoldName(name) == last && g.isReserved(names.Join(dir, name)) {
			return true
		}
	}
	return false
}

// Shows reports whether the path may appear in the listing of its directory.
func (g *Guard) Shows(name string) bool { return g.Check(name, Look) == nil }

// Held returns the error for a directory that may not be removed because of something in it.
func Held(err error, name string) error { return fmt.Errorf("%w: %s", err, name) }

// CheckWrite returns an *fs.PathError if the guard forbids writing to the path, which must be canonical and resolved. A
// stage does this check for its own paths; CheckWrite is for paths from elsewhere, such as a stored plan or a backup.
func (g Policy) CheckWrite(name string) error {
	clean, err := names.Clean(name)
	if err != nil {
		return err
	}
	if clean != name || clean == "." {
		return &fs.PathError{Op: "write", Path: name, Err: names.ErrBadName}
	}
	made := New(g)
	return names.PathError("write", name, made.Check(name, Write))
}
