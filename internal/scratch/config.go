package scratch

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/names"
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
	// Name is the last element of the path of the tree, such as "myproject". An invalid name becomes "tree".
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
	// Warn, if not nil, receives warnings for the user, one sentence a call. It is called by the goroutine that has
	// called a method of the tree.
	Warn func(text string)
}

// Options say what of a tree a program gets to see, and what of its work is taken. The same must be given to
// [Tree.Renew] and to the [Tree.Collect] that follows.
type Options struct {
	// Make reports whether a path is made real. It is asked about files and links; directories are there where
	// something in them is. Several goroutines ask at once. Nil means that everything is.
	Make func(path string) bool
	// Bring reports whether what a program has changed at the path is taken. The rest is left out, with a warning. Nil
	// means that everything is.
	Bring func(path string) bool
	// NoIgnore takes also what the .gitignore files of the scratch tree leave out.
	NoIgnore bool
}

// The limits that a [LimitError] names.
const (
	LimitFiles   = "files"         // of the tree
	LimitBytes   = "bytes"         // of the tree
	LimitChanged = "changed files" // by a program
)

// LimitError reports more of something than the limit allows.
type LimitError struct {
	What       string // LimitFiles, LimitBytes or LimitChanged
	Limit, Got int64
}

// Error names the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("%s: %d, at most %d", e.What, e.Got, e.Limit) }

func withDefaults(c Config) Config {
	if c.MaxFiles <= 0 {
		c.MaxFiles = DefaultMaxFiles
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.MaxChanged <= 0 {
		c.MaxChanged = DefaultMaxChanged
	}
	if c.Warn == nil {
		c.Warn = func(string) {}
	}
	return c
}

// warnOf warns of some paths, of which the first few are named. There may be none.
func warnOf(c *Config, list []string, what string) {
	if len(list) == 0 {
		return
	}
	const shown = 5
	some := make([]string, 0, shown)
	for _, name := range list[:min(shown, len(list))] {
		some = append(some, names.Visible(name))
	}
	text := fmt.Sprintf("%d %s: %s", len(list), what, strings.Join(some, ", "))
	if len(list) > shown {
		text += ", ..."
	}
	c.Warn(text)
}
