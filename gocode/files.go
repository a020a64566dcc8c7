package gocode

import (
	"context"
	"errors"
	"go/scanner"
	"path"
	"slices"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
)

// onErrorContinue is the value of on_error that leaves a file unchanged.
const onErrorContinue = "continue"

// isGo reports whether a file has the extension of Go.
func isGo(name string) bool { return path.Ext(name) == ".go" }

// goFiles returns the Go files to work on: the files of the call, or, if the call has no files, the files that the run
// has changed so far.
func goFiles(c *actions.Call) ([]string, error) {
	if len(c.Files) > 0 || len(c.Inputs) > 0 {
		return slices.DeleteFunc(slices.Clone(c.Files), func(name string) bool { return !isGo(name) }), nil
	}
	changes, err := c.FS.Changes()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, ch := range changes {
		if ch.New.Kind == change.File && isGo(ch.Path) {
			files = append(files, ch.Path)
		}
	}
	return files, nil
}

// editEach edits the Go files of the call. With goOn, a file that does not parse stays unchanged, with a warning.
func editEach(
	ctx context.Context, c *actions.Call, goOn bool, edit func(name string, old []byte) ([]byte, error),
) (actions.Outcome, error) {
	files, err := goFiles(c)
	if err != nil {
		return actions.Outcome{}, err
	}
	c.Files = files
	return c.EditEach(ctx, func(name string, old []byte) ([]byte, error) {
		text, err := edit(name, old)
		if err == nil {
			return text, nil
		}
		err = syntaxError(err)
		if goOn {
			c.Warnf("%s: %v; left as it was", name, err)
			return old, nil
		}
		return nil, actions.Permanent(err)
	})
}

// syntaxError returns the first error of a file that does not parse, without the name of the file.
func syntaxError(err error) error {
	if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
		first := *list[0]
		first.Pos.Filename = ""
		return &first
	}
	return err
}
