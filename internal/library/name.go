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

// The extensions of files with a pipeline.
const (
	JSON = ".json"
	yaml = ".yaml"
	yml  = ".yml"
)

// MostListed limits the bytes of text that a listing reads.
const MostListed = 64 << 20

// ErrNotRead is the error for a file after the first MostListed bytes of a listing.
var ErrNotRead = fmt.Errorf("not read, for the files before it have more than %d bytes: load it by its name",
	MostListed)

// IsJSON reports whether a text is the JSON of a pipeline, and not a name: it begins with "{", or has a "{" anywhere if
// the decoder is lenient.
func IsJSON(text string, lenient bool) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") || lenient && strings.Contains(text, "{")
}

// Ends returns the extensions of the files to read: JSON, and YAML if it can be decoded.
func Ends(withYAML bool) []string {
	if !withYAML {
		return []string{JSON}
	}
	return []string{JSON, yaml, yml}
}

// nameError is an error with its own text that matches another error.
type nameError struct {
	text string
	kind error
}

func (e *nameError) Error() string { return e.text }
func (e *nameError) Unwrap() error { return e.kind }

// CheckName returns an error if no pipeline can have the name. Names of devices are refused on every system, because
// people move a library from one system to another. The error matches names.ErrBadName, or names.ErrNotPortable.
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

// Missing returns the error for a name that is in none of the directories. Its text lists the labels of the
// directories, and suggests the nearest valid name in them. It matches fs.ErrNotExist.
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
