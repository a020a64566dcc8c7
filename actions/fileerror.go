package actions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// ErrBinary reports that a file cannot be edited or shown as text.
var ErrBinary error = worded.Errorf("is a binary file; %v",
	wording.Part{Kind: kinds.EditBinary, Text: "set binary: true to edit it all the same"})

// unlessBinary returns ErrBinary, or nil if binary files are allowed.
func unlessBinary(binary bool) error {
	if binary {
		return nil
	}
	return ErrBinary
}

// protected returns errProtected for a file that its owner may not write to, in the tree and on the stage. Its change
// would be blocked, so a step that continues after failures leaves the file out.
func (c *Call) protected(name string) error {
	if c.Force {
		return nil
	}
	name, err := c.FS.Resolve(name)
	if err != nil {
		return err
	}
	for _, stat := range []func(string) (fs.FileInfo, error){c.FS.Stat, c.stage().Base().Stat} {
		if info, err := stat(name); err != nil || info.Mode()&ownerWrite != 0 {
			return nil // the reader reports a missing file
		}
	}
	return errProtected
}

const ownerWrite fs.FileMode = 0o200

// FileError is an error about a file of a step. Its text begins with the path.
type FileError struct {
	Path string
	Err  error
}

// Error names the file and the reason.
func (e *FileError) Error() string { return e.message().Error() }

func (e *FileError) message() *worded.Error {
	cause := worded.Within(reason(e.Err), e.Err)
	if strings.ContainsAny(e.Path, "*?[") && errors.Is(e.Err, fs.ErrNotExist) {
		return worded.Errorf("%s: %v; this is the name of a file%v", e.Path, cause, wording.Part{
			Kind: kinds.GlobName,
			Text: ": globs work in include of search and in file_pattern of pattern_replace",
		})
	}
	return worded.Errorf("%s: %v", e.Path, cause)
}

// As sets a target of a door of the project to the parts of the message.
func (e *FileError) As(target any) bool { return e.message().Give(target) }

// Paths returns the file of the error.
func (e *FileError) Paths() []string { return []string{e.Path} }

// MarshalJSON returns the code, the message and the paths.
func (e *FileError) MarshalJSON() ([]byte, error) { return errorform.Marshal(errorform.StepFailed, e) }

// Unwrap returns the cause, such as [fs.ErrNotExist], [fsutil.ErrIsDir] or [ErrBinary].
func (e *FileError) Unwrap() error { return e.Err }

// asFileError sets a target that is a *FileError, for errors that have more than a file and a cause.
func asFileError(target any, path string, err error) bool {
	e, ok := target.(**FileError)
	if ok {
		*e = &FileError{Path: path, Err: err}
	}
	return ok
}

// fileError returns err as a *FileError, nil for nil.
func fileError(path string, err error) error {
	if err == nil {
		return nil
	}
	return &FileError{Path: path, Err: err}
}

// reason returns the text of an error without operation and path, in the same words for all file systems.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist.Error()
	case errors.Is(err, fs.ErrPermission):
		if e, ok := errors.AsType[*os.LinkError](err); ok {
			return fmt.Sprintf("access denied: %s %s to %s", e.Op, e.Old, e.New)
		}
		return "access denied"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return reason(e.Err)
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return reason(e.Err)
	}
	return err.Error()
}

// onErrorContinue is the value of on_error for a step that leaves out files that fail. The default is "stop".
const onErrorContinue = "continue"

// reportText returns the text of a report on a file that failed: "File not found", "Permission denied", "String not
// found in file" or "Line number out of range", and for other errors their text without the path. The error is not nil.
func reportText(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "File not found"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, errProtected):
		return "Permission denied"
	}
	if _, ok := errors.AsType[*lineError](err); ok {
		return "Line number out of range"
	}
	if e, ok := errors.AsType[*FileError](err); ok {
		return reason(e.Err)
	}
	return err.Error()
}

// ReportOf returns the report on a file that failed with err, or on a successful file if err is nil.
func ReportOf(path string, err error) FileReport {
	if err != nil {
		return FileReport{Path: path, Error: reportText(err), Cause: causeOf(err)}
	}
	return FileReport{Path: path, Success: true}
}

// lineError refuses a range of lines that is not in the file.
type lineError struct {
	Start, End int // as in the parameters
	Lines      int // the number of lines of the file
}

// Error names the lines.
func (e *lineError) Error() string {
	return fmt.Sprintf("line number out of range: lines %d to %d of %d", e.Start, e.End, e.Lines)
}

func (e *lineError) cause() string { return causeRange }

// MarshalJSON returns the code, the message and the paths.
func (e *lineError) MarshalJSON() ([]byte, error) { return errorform.Marshal(errorform.StepFailed, e) }
