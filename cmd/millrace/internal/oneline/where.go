package oneline

import (
	"path"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
)

// Kind is the kind of file at a name.
type Kind uint8

// The kinds. A link is a File, unless it leads to a directory.
const (
	Nothing Kind = iota
	File
	Dir
	DirLink
)

// Where is the context of the arguments.
type Where struct {
	// Root is the absolute name of the root of the tree, with slashes, "" if unknown: then absolute arguments are refused.
	Root string
	// Dir is the working directory as a path relative to the root. "" and "." are the root.
	Dir string
	// Backslash means that a backslash in names and globs is a slash, as on Windows.
	Backslash bool
	// Look returns the kind of a path relative to the root. Nil means Nothing for all paths.
	Look func(name string) Kind
	// Read reads the file given by an argument, which may be anywhere: its name is relative to the working directory, and
	// "-" is standard input. Nil refuses all files.
	Read func(name string) ([]byte, error)
	// Ask asks the user for a line. Nil asks nothing.
	Ask func(question string) (string, error)

	literal bool // texts are not names, for any parameter
}

func (w Where) dir() string { return path.Clean("./" + w.Dir) }

func (w Where) look(name string) Kind {
	if w.Look == nil {
		return Nothing
	}
	return w.Look(name)
}

func (w Where) read(name string) ([]byte, error) {
	if w.Read == nil {
		return nil, usage("", "'%s' cannot be read here", name)
	}
	return w.Read(name)
}

// place returns the path relative to the root for a name in an argument.
func (w Where) place(argument string) (string, error) {
	if argument == "" {
		return "", usage("", "a name cannot be empty")
	}
	argument = w.slashes(argument)
	name := argument
	if rest, ok := w.belowRoot(argument); ok {
		name = rest
	} else if absolute(argument) {
		return "", w.outside(argument)
	} else {
		name = path.Join(w.dir(), argument)
	}
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", w.outside(argument)
	}
	return name, nil
}

func (w Where) slashes(argument string) string {
	if w.Backslash {
		return strings.ReplaceAll(argument, `\`, "/")
	}
	return argument
}

func (w Where) outside(argument string) error {
	return usage("-C names another one", "'%s' is outside of the tree '%s'", shown(argument), shown(w.Root))
}

// belowRoot returns the path relative to the root for an absolute argument.
func (w Where) belowRoot(argument string) (string, bool) {
	if w.Root == "" || !absolute(argument) {
		return "", false
	}
	name, root := path.Clean(argument), path.Clean(w.Root)
	if name == root {
		return ".", true
	}
	return strings.CutPrefix(name, strings.TrimSuffix(root, "/")+"/")
}

// absolute reports whether an argument is an absolute name, also in the form of Windows.
func absolute(name string) bool {
	return strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' && name[2] == '/'
}

// shown returns a text for messages.
func shown(text string) string { return fsutil.Visible(text) }

// slashed returns a path as the name of a directory.
func slashed(dir string) string { return strings.TrimSuffix(dir, "/") + "/" }
