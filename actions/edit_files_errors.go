package actions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/names"
)

// editFilesError lists all edits of an [EditFiles] that cannot be made, in the order of the parameters.
type editFilesError struct {
	Failures []*editFailure
}

// editFailure is the reason why an edit of a file cannot be made, or why all its edits cannot.
type editFailure struct {
	Path    string
	Index   int    // of the edit in the list of the file, from 0; -1 if the whole file is meant
	Command string // of the edit; "" if the whole file is meant
	// Err is the cause, such as [fs.ErrNotExist], a *[lineError], a *[hashError], a *[lineOverlapError], a
	// *[textError] or a *[notUniqueError].
	Err error
}

// mostFailures limits the failures in the text of an error.
const mostFailures = 10

// Error lists the failures, no more than ten.
func (e *editFilesError) Error() string {
	return strings.Join(names.First(e.Failures, mostFailures, (*editFailure).Error), "; ")
}

// Paths returns the files of the failures.
func (e *editFilesError) Paths() []string {
	paths := make([]string, len(e.Failures))
	for i, one := range e.Failures {
		paths[i] = one.Path
	}
	return paths
}

// MarshalJSON returns the code, the message and the paths.
func (e *editFilesError) MarshalJSON() ([]byte, error) {
	return errorform.Marshal(errorform.StepFailed, e)
}

// Unwrap returns the failures.
func (e *editFilesError) Unwrap() []error {
	errs := make([]error, len(e.Failures))
	for i, f := range e.Failures {
		errs[i] = f
	}
	return errs
}

// Error names the file and the edit.
func (f *editFailure) Error() string {
	if f.Index < 0 {
		return fmt.Sprintf("%s: %s", f.Path, f.reason())
	}
	return fmt.Sprintf("%s: edit %d (%s): %s", f.Path, f.Index, f.Command, f.reason())
}

// Paths returns the file of the edit.
func (f *editFailure) Paths() []string { return []string{f.Path} }

// MarshalJSON returns the code, the message and the paths.
func (f *editFailure) MarshalJSON() ([]byte, error) {
	return errorform.Marshal(errorform.StepFailed, f)
}

// Unwrap returns Err.
func (f *editFailure) Unwrap() error { return f.Err }

// As returns the file and the cause as a *[FileError].
func (f *editFailure) As(target any) bool { return asFileError(target, f.Path, f.Err) }

// reason returns the cause in the words that reports use.
func (f *editFailure) reason() string {
	text := reportText(&FileError{Path: f.Path, Err: f.Err})
	e, ok := errors.AsType[*lineError](f.Err)
	switch {
	case !ok:
		return text
	case e.Start == e.End:
		return fmt.Sprintf("%s: line %d of %d", text, e.Start, e.Lines)
	}
	return fmt.Sprintf("%s: lines %d to %d of %d", text, e.Start, e.End, e.Lines)
}

// hashError reports that a file, or a range of its lines, has changed since it was read.
type hashError struct {
	Range bool        // it is about lines First to Last, not about the whole file
	First int         // first line of the range, from 1
	Last  int         // last line, included
	Want  string      // as given
	Got   change.Hash // of the file as the step found it
}

// Error has both hashes.
func (e *hashError) Error() string {
	switch {
	case !e.Range:
		return fmt.Sprintf("File has changed: its content_hash is %s, not %s; read it again", e.Got, e.Want)
	case e.First == e.Last:
		return fmt.Sprintf("Line %d has changed: its range_hash is %s, not %s; read it again", e.First, e.Got, e.Want)
	}
	return fmt.Sprintf("Lines %d to %d have changed: their range_hash is %s, not %s; read them again",
		e.First, e.Last, e.Got, e.Want)
}

func (e *hashError) cause() string { return causeStale }

// MarshalJSON returns the code, the message and the paths.
func (e *hashError) MarshalJSON() ([]byte, error) { return errorform.Marshal(errorform.StepFailed, e) }

// lineOverlapError reports that two edits of a file change the same lines.
type lineOverlapError struct {
	First, Second int // indices of the edits, from 0
}

// Error names both edits.
func (e *lineOverlapError) Error() string {
	return fmt.Sprintf("Lines overlap: edits %d and %d want the same ones; "+
		"line numbers are those of the file before the step", e.First, e.Second)
}

// MarshalJSON returns the code, the message and the paths.
func (e *lineOverlapError) MarshalJSON() ([]byte, error) {
	return errorform.Marshal(errorform.StepFailed, e)
}

// textError reports that the text of a str_replace is not in a file.
type textError struct {
	Nearest []string // places that nearly match, and why they do not match
	Applied int      // the line at which the new text is there already, 0 if it is not
}

// Error has the nearest places, or the line of the new text.
func (e *textError) Error() string {
	text := "String not found in file"
	if e.Applied > 0 {
		return fmt.Sprintf("%s: already applied: the new text is in line %d", text, e.Applied)
	}
	if len(e.Nearest) > 0 {
		text += ": nearest is " + strings.Join(e.Nearest, "; then ")
	}
	return text
}

func (e *textError) cause() string {
	if e.Applied > 0 {
		return causeApplied
	}
	return causeText
}

// MarshalJSON returns the code, the message and the paths.
func (e *textError) MarshalJSON() ([]byte, error) { return errorform.Marshal(errorform.StepFailed, e) }

// notUniqueError reports that the text of a str_replace without replace_all is in a file more than once.
type notUniqueError struct {
	Count int   // the number of occurrences
	Lines []int // their lines, from 1, after the edits before; each once, the first ten at most
	more  bool  // there are others
}

// mostLines limits the lines in a notUniqueError.
const mostLines = 10

// add counts an occurrence.
func (e *notUniqueError) add(line int) {
	e.Count++
	switch n := len(e.Lines); {
	case n > 0 && e.Lines[n-1] == line:
	case n == mostLines:
		e.more = true
	default:
		e.Lines = append(e.Lines, line)
	}
}

// Error has the number of occurrences and their lines.
func (e *notUniqueError) Error() string {
	lines := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(e.Lines)), ", "), "[]")
	in := "in lines"
	switch {
	case e.more:
		in = "first in lines"
	case len(e.Lines) == 1:
		in = "in line"
	}
	return fmt.Sprintf("String found %d times in file: %s %s; set replace_all, or make old_str longer",
		e.Count, in, lines)
}

func (e *notUniqueError) cause() string { return causeNotUnique }

// MarshalJSON returns the code, the message and the paths.
func (e *notUniqueError) MarshalJSON() ([]byte, error) {
	return errorform.Marshal(errorform.StepFailed, e)
}
