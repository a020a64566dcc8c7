// Package fstest is a test suite for the rules of POSIX for files, directories and links. It is run on every file
// system that claims to keep them. The operating system is the reference: the suite also runs on a temporary directory,
// which reveals wrong checks.
package fstest

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/names"
)

// Options list the rules that a file system does not claim to keep. The zero value means that it keeps them all.
type Options struct {
	// NoSymlinks: symbolic links are not supported.
	NoSymlinks bool
	// NoModes: permission bits are not kept.
	NoModes bool
	// NoTimes: modification times are not kept.
	NoTimes bool
	// NoOpenRemoved: after a file is removed, replaced or renamed, handles that were opened before no longer work.
	NoOpenRemoved bool
	// NoSharedHandles: a handle does not see the writes through another handle.
	NoSharedHandles bool
	// NoConfinement: names and links may lead out of the tree, and are not checked by the rules of fsutil.Clean.
	NoConfinement bool
	// NoDirReplace: Rename never replaces a directory, like os.Rename, although rename(2) does.
	NoDirReplace bool
	// NoOddNames: names may not contain newlines, backslashes or bytes that are not UTF-8.
	NoOddNames bool
	// Skip lists single checks to leave out, as "group/name", with the reason.
	Skip map[string]string
}

// need is a feature that a check needs.
type need uint8

const (
	links need = 1 << iota
	modes
	times
	openRemoved
	sharedHandles
	confinement
	dirReplace
	oddNames
)

func (o Options) lacks() need {
	var n need
	for bit, missing := range map[need]bool{
		links: o.NoSymlinks, modes: o.NoModes, times: o.NoTimes, openRemoved: o.NoOpenRemoved,
		sharedHandles: o.NoSharedHandles, confinement: o.NoConfinement, dirReplace: o.NoDirReplace,
		oddNames: o.NoOddNames,
	} {
		if missing {
			n |= bit
		}
	}
	return n
}

// check is one rule.
type check struct {
	name  string
	needs need
	run   func(t tree)
}

// group is a list of checks on one topic.
type group struct {
	name   string
	checks []check
}

func groups() []group {
	return []group{
		{"file", fileChecks()},
		{"handle", handleChecks()},
		{"dir", dirChecks()},
		{"list", listChecks()},
		{"remove", removeChecks()},
		{"rename", renameChecks()},
		{"attr", attrChecks()},
		{"link", linkChecks()},
		{"name", nameChecks()},
	}
}

// Names returns the names of all checks, in the form of Options.Skip.
func Names() []string {
	var names []string
	for _, g := range groups() {
		for _, c := range g.checks {
			names = append(names, g.name+"/"+c.name)
		}
	}
	return names
}

// Run runs every check as a subtest, each on an empty file system from open. Run does not close that file system; use
// t.Cleanup for that.
func Run(t *testing.T, open func(t *testing.T) afero.Fs, opt Options) {
	t.Helper()
	known := make(map[string]bool)
	for _, g := range groups() {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.checks {
				known[g.name+"/"+c.name] = true
				t.Run(c.name, func(t *testing.T) {
					if c.needs&opt.lacks() != 0 {
						t.Skip("not claimed by this file system")
					}
					if why, ok := opt.Skip[g.name+"/"+c.name]; ok {
						t.Skip(why)
					}
					c.run(tree{T: t, fs: open(t)})
				})
			}
		})
	}
	for name := range opt.Skip {
		if !known[name] {
			t.Errorf("Options.Skip names a check that does not exist: %q", name)
		}
	}
}

// The functions below report whether an error is of the kind in their name, matching a value of fsutil or of the
// system.

// IsNotExist reports whether the file did not exist.
func IsNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// IsExist reports whether the file existed already.
func IsExist(err error) bool { return errors.Is(err, fs.ErrExist) }

// IsNotDir reports whether a file that is not a directory was used as a directory.
func IsNotDir(err error) bool {
	return errors.Is(err, names.ErrNotDir) || errors.Is(err, syscall.ENOTDIR)
}

// IsDir reports whether a directory was used as a file.
func IsDir(err error) bool { return errors.Is(err, names.ErrIsDir) || errors.Is(err, syscall.EISDIR) }

// IsNotEmpty reports whether a directory was not empty.
func IsNotEmpty(err error) bool {
	return errors.Is(err, names.ErrNotEmpty) || errors.Is(err, syscall.ENOTEMPTY)
}

// IsLoop reports whether there were too many symbolic links.
func IsLoop(err error) bool {
	return errors.Is(err, names.ErrLinkLoop) || errors.Is(err, syscall.ELOOP)
}

// IsEscape reports whether a name or a link led out of the tree.
func IsEscape(err error) bool { return errors.Is(err, names.ErrEscape) }

// IsAbsolute reports whether a name was absolute.
func IsAbsolute(err error) bool { return errors.Is(err, names.ErrAbsolute) }

// IsEmptyName reports whether a name was empty.
func IsEmptyName(err error) bool { return errors.Is(err, names.ErrEmptyPath) }

// IsBadName reports whether a name had a NUL byte.
func IsBadName(err error) bool { return errors.Is(err, names.ErrBadName) }

// IsTooLong reports whether a name was too long.
func IsTooLong(err error) bool {
	return errors.Is(err, names.ErrNameTooLong) || errors.Is(err, syscall.ENAMETOOLONG)
}

// IsInvalid reports whether the operation was impossible, such as moving a directory into itself.
func IsInvalid(err error) bool {
	return errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.EINVAL)
}
