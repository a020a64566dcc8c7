// Package errorform defines the JSON form of errors, which is the same for each error type of this module.
package errorform

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
)

// Form is an error in JSON.
type Form struct {
	// Code is a stable word for programs, Message the full text of the error.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Problems are the mistakes listed by the error, nil without a list.
	Problems []Problem `json:"problems,omitempty"`
	// Paths are the files that the error concerns, each once, in the order of the error. Nil without files.
	Paths []string `json:"paths,omitempty"`
}

// Problem is one mistake in an input. Fields that do not apply are zero, and left out of the JSON.
type Problem struct {
	Pointer string `json:"pointer,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// Marshal returns the JSON of an error with a code and problems.
func Marshal(code string, err error, problems ...Problem) ([]byte, error) {
	return json.Marshal(Form{Code: code, Message: err.Error(), Problems: problems, Paths: Paths(err)})
}

// Paths returns the files that an error concerns: the files of the first error in the tree that names files, or nil.
func Paths(err error) []string {
	if listed, ok := errors.AsType[interface {
		error
		Paths() []string
	}](err); ok {
		var once []string
		for _, path := range listed.Paths() {
			if path != "" && !slices.Contains(once, path) {
				once = append(once, path)
			}
		}
		return once
	}
	if one, ok := errors.AsType[*fs.PathError](err); ok {
		return []string{one.Path}
	}
	return nil
}
