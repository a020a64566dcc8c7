package scratch

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/names"
)

// The defaults of the limits in [Config].
const (
	DefaultMaxFiles   = 500_000
	DefaultMaxBytes   = 8 << 30
	DefaultMaxChanged = 10_000
)

// Config has the place of scratch trees and their limits.
type Config struct {
	// Dir is the directory for the places, as an absolute name. Empty means the user's cache directory. It must not be
	// inside a tree that is copied, because programs look upwards for the project of a tree.
	Dir string
	// Tree identifies the tree. The same Tree gets the same path again, because the caches of compilers depend on the
	// path.
	Tree string
	// Name is the last element of the path of the tree, such as "myproject". An invalid name becomes "tree".
	Name string
	// Keep leaves the files on disk when the tree is closed, so that the next Open of the same Tree has to write only
	// the differences.
	Keep bool
	// MaxFiles and MaxBytes limit the scratch tree: the number of files, links and directories, and the bytes of all
	// files. MaxChanged limits the number of changes of a program. Zero means the default.
	MaxFiles, MaxChanged int
	MaxBytes             int64
	// Reap, if not nil, is called by Open before it wipes the remains of a run that was killed. It gets the directory
	// of the tree, and ends the processes that still run there. A place for
	// which it fails is not used.
	Reap func(root string) error
	// Warn, if not nil, receives warnings for the user, one sentence a call. It is called on the goroutine of the
	// method call on the tree.
	Warn func(text string)
}

// Options select the paths that a program gets, and the changes that are collected. [Tree.Renew] and the next
// [Tree.Collect] must get the same Options.
type Options struct {
	// Make reports whether a file or link is written to the scratch tree. A directory is written if something in it is.
	// Several goroutines call Make at once. Nil means that everything is written.
	Make func(path string) bool
	// Bring reports whether a change of a program at the path is collected. Other changes are left out, with a warning.
	// Nil means that all changes are collected.
	Bring func(path string) bool
	// NoIgnore also collects paths that the .gitignore files of the scratch tree ignore.
	NoIgnore bool
}

// The limits that a [LimitError] names.
const (
	LimitFiles   = "files"         // of the tree
	LimitBytes   = "bytes"         // of the tree
	LimitChanged = "changed files" // by a program
)

// LimitError reports that a limit was exceeded.
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

// warnOf warns of paths, and names the first five. It does nothing for an empty list.
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
