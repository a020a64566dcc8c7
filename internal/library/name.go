package library

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/show"
)

// The ends of the names of files with a pipeline.
const (
	JSON = ".json"
	yaml = ".yaml"
	yml  = ".yml"
)

// MostListed is how many bytes of text a listing reads.
const MostListed = 64 << 20

// ErrNotRead is the error of a file that comes after MostListed bytes in a listing.
var ErrNotRead = fmt.Errorf("not read, for the files before it have more than %d bytes: load it by its name",
	MostListed)

// IsJSON reports whether a text is the JSON of a pipeline, and not a name. It begins with "{", or has a "{" anywhere if
// the decoder is lenient.
func IsJSON(text string, lenient bool) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") || lenient && strings.Contains(text, "{")
}

// Ends returns the ends of the files to read, which are JSON, and YAML if it can be decoded.
func Ends(withYAML bool) []string {
	if !withYAML {
		return []string{JSON}
	}
	return []string{JSON, yaml, yml}
}

// nameError has a text of its own, and matches another error.
type nameError struct {
	text string
	kind error
}

func (e *nameError) Error() string { return e.text }
func (e *nameError) Unwrap() error { return e.kind }

// CheckName returns the reason why no pipeline can have a name. Names of devices are refused on every system, because
// people carry a library from one system to another. The error matches names.ErrBadName, or names.ErrNotPortable.
func CheckName(name string) error {
	text := fmt.Sprintf("invalid pipeline name '%s' (only alphanumeric, -, and _ allowed, at most %d)",
		names.Visible(show.Name(name)), definition.MaxIDLen)
	if !definition.ValidID(name) {
		return &nameError{text, names.ErrBadName}
	}
	if err := names.CheckPortable(name); err != nil {
		return &nameError{fmt.Sprintf("invalid pipeline name '%s' (%v)", name, err), err}
	}
	return nil
}

// Missing returns the error for a name that no directory has. Its text lists the labels of the directories, and
// suggests the nearest valid name of those that the directories have. It matches fs.ErrNotExist.
func Missing(name string, dirs, there []string) error {
	text := fmt.Sprintf("no pipeline '%s' in %s", show.Name(name), strings.Join(dirs, ", "))
	if len(dirs) == 0 {
		text = fmt.Sprintf("no pipeline '%s': the library has no directories", show.Name(name))
	}
	valid := slices.DeleteFunc(slices.Clone(there), func(name string) bool { return CheckName(name) != nil })
	if meant, ok := nearest.Of(name, valid); ok {
		text += fmt.Sprintf(": did you mean '%s'?", meant)
	}
	return &nameError{text, fs.ErrNotExist}
}
