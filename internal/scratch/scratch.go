// Package scratch makes the tree of a stage real in a directory of the system, so that a program can work on it, and
// finds out afterwards what the program has changed.
//
// [Open] takes a place, [Tree.Renew] makes it equal to a view of a stage, then the program runs, [Tree.Collect] tells
// what it has left there, and [Stage] stages that through the view. The next Renew writes only what differs by then.
package scratch

import (
	"context"
	"fmt"

	"github.com/millrace-go/millrace/internal/stage"
)

// How much there may be unless [Config] says otherwise.
const (
	DefaultMaxFiles   = 500_000
	DefaultMaxBytes   = 8 << 30
	DefaultMaxChanged = 10_000
)

// Config says where scratch trees are and how large they may be.
type Config struct {
	// Dir is the directory that the place is made in, as an absolute name. Empty means that of the user for caches. It
	// must not lie in a tree that is made real, for programs look upwards for what a tree belongs to.
	Dir string
	// Tree says which tree it is: what is opened for the same one gets the same path again, which is what the caches of
	// compilers go by.
	Tree string
	// Name is the last element of the path of the tree, such as "myproject". What cannot be one becomes "tree".
	Name string
	// Keep leaves the tree there when it is closed, so that the next one with the same Tree has to write only what
	// differs.
	Keep bool
	// MaxFiles and MaxBytes bound what is made real: how many files, links and directories, and the bytes of all files.
	// MaxChanged bounds how many changes a program may leave. Zero means the default.
	MaxFiles, MaxChanged int
	MaxBytes             int64
	// Reap, if not nil, is called by Open before it wipes what a program has left that did not come to its end: it ends
	// what that has left running in the tree, whose directory it gets. An error is that of Open.
	Reap func(root string) error
	// Warn, if not nil, is told what a user should know of, one sentence a call. It is called by the goroutine that has
	// called a method of the tree.
	Warn func(text string)
}

// Options say what of a tree a program gets to see, and what of its work is taken. The same must be given to
// [Tree.Renew] and to the [Tree.Collect] that follows.
type Options struct {
	// Make reports whether a path is made real. It is asked about files and links; directories are there where something
	// in them is. Several goroutines ask at once. Nil means that everything is.
	Make func(path string) bool
	// Bring reports whether what a program has changed at the path is taken. The rest is left out, with a warning. Nil
	// means that everything is.
	Bring func(path string) bool
	// NoIgnore takes also what the .gitignore files of the scratch tree leave out.
	NoIgnore bool
}

// Tree is a place at which the tree of a stage is made real. Its methods must not be called at the same time.
type Tree struct{ tree }

// What a [LimitError] is about.
const (
	LimitFiles   = "files"         // of the tree
	LimitBytes   = "bytes"         // of the tree
	LimitChanged = "changed files" // by a program
)

// LimitError says that there is more of something than was allowed.
type LimitError struct {
	What       string // LimitFiles, LimitBytes or LimitChanged
	Limit, Got int64
}

// Error names the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("%s: %d, at most %d", e.What, e.Got, e.Limit) }

// Open takes a place for the tree, makes it if need be, and wipes what a program has left there that did not come to
// its end. Up to 8 may be open for one tree; if all are, the error is capability.ErrLocked. A place that belongs to
// another user, or that a symbolic link leads to, is refused.
func Open(ctx context.Context, c Config) (*Tree, error) { return open(ctx, c) }

// Root returns the directory of the tree, as an absolute name without symbolic links.
func (t *Tree) Root() string { return t.root() }

// Temp returns a directory for temporary files. It is emptied by each Renew.
func (t *Tree) Temp() string { return t.temp() }

// Home returns a home directory. It is emptied by each Renew.
func (t *Tree) Home() string { return t.home() }

// Shared returns a directory that stays from the first call until the tree is closed.
func (t *Tree) Shared() (string, error) { return t.shared() }

// Renew makes the tree equal to what the view shows, ignored files too, but for version control directories, and for
// what is withheld: links that lead out of the tree, special files, what may not be read, and what o leaves out. It
// writes only what differs from what is there. Permission bits, without setuid and setgid, and times are those of the
// view. A tree whose names the file system of the scratch tree does not tell apart is an error, and one that is too
// large a *[LimitError].
//
// From here on, the place is wiped by the next Open, unless the tree is closed.
func (t *Tree) Renew(ctx context.Context, view *stage.Stage, o Options) error {
	return t.renew(ctx, view, o)
}

// Collect returns what differs from what the last Renew has made, in path order. No process may work in the tree any
// more.
func (t *Tree) Collect(ctx context.Context, o Options) ([]Change, error) { return t.collect(ctx, o) }

// Discard says that what was done in the tree since the last Renew does not count.
func (t *Tree) Discard() { t.discard() }

// Close removes the place, but for the tree of one that is to be kept, and gives it back. The changes that came out of
// it cannot be read any more.
func (t *Tree) Close() error { return t.close() }
