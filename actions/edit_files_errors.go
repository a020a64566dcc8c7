package actions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/names"
)

// EditFilesError lists all edits of an [EditFiles] that cannot be made, in the order of the parameters.
type EditFilesError struct {
	Failures []*EditFailure
}

// EditFailure is the reason why an edit of a file cannot be made, or why all its edits cannot.
type EditFailure struct {
	Path    string
	Index   int    // of the edit in the list of the file, from 0; -1 if it is not about a single edit
	Command string // of the edit; "" if it is not about a single one
	// Err is the cause, such as [fs.ErrNotExist], a *[LineError], a *[HashError], a *[LineOverlapError], a
	// *[NotFoundError] or a *[NotUniqueError].
	Err error
}

// mostFailures limits the failures in the text of an error.
const mostFailures = 10

// Error lists the failures, no more than ten.
func (e *EditFilesError) Error() string {
	return strings.Join(names.First(e.Failures, mostFailures, (*EditFailure).Error), "; ")
}

// Paths returns the files of the failures.
func (e *EditFilesError) Paths() []string {
	paths := make([]string, len(e.Failures))
	for i, one := range e.Failures {
		paths[i] = one.Path
	}
	return paths
}

// MarshalJSON gives the code, the message and the paths.
func (e *EditFilesError) MarshalJSON() ([]byte, error) { return errorform.Marshal(stepFailed, e) }

// Unwrap returns the failures.
func (e *EditFilesError) Unwrap() []error {
	errs := make([]error, len(e.Failures))
	for i, f := range e.Failures {
		errs[i] = f
	}
	return errs
}

// Error names the file and the edit.
func (f *EditFailure) Error() string {
	if f.Index < 0 {
		return fmt.Sprintf("%s: %s", f.Path, f.reason())
	}
	return fmt.Sprintf("%s: edit %d (%s): %s", f.Path, f.Index, f.Command, f.reason())
}

// Paths returns the file that it is about.
func (f *EditFailure) Paths() []string { return []string{f.Path} }

// MarshalJSON gives the code, the message and the paths.
func (f *EditFailure) MarshalJSON() ([]byte, error) { return errorform.Marshal(stepFailed, f) }

// Unwrap returns Err.
func (f *EditFailure) Unwrap() error { return f.Err }

// reason returns the cause in the words that reports use.
func (f *EditFailure) reason() string {
	text := ReportText(&FileError{Path: f.Path, Err: f.Err})
	e, ok := errors.AsType[*LineError](f.Err)
	switch {
	case !ok:
		return text
	case e.Start == e.End:
		return fmt.Sprintf("%s: line %d of %d", text, e.Start, e.Lines)
	}
	return fmt.Sprintf("%s: lines %d to %d of %d", text, e.Start, e.End, e.Lines)
}

// HashError reports that a file, or a range of its lines, has changed since it was read.
type HashError struct {
	Range bool        // it is about lines First to Last, not about the whole file
	First int         // first line of the range, from 1
	Last  int         // last line, included
	Want  string      // as given
	Got   fsutil.Hash // of the file as the step found it
}

// Error has both hashes.
func (e *HashError) Error() string {
	switch {
	case !e.Range:
		return fmt.Sprintf("File has changed: its content_hash is %s, not %s; read it again", e.Got, e.Want)
	case e.First == e.Last:
		return fmt.Sprintf("Line %d has changed: its range_hash is %s, not %s; read it again", e.First, e.Got, e.Want)
	}
	return fmt.Sprintf("Lines %d to %d have changed: their range_hash is %s, not %s; read them again",
		e.First, e.Last, e.Got, e.Want)
}

// MarshalJSON gives the code, the message and the paths.
func (e *HashError) MarshalJSON() ([]byte, error) { return errorform.Marshal(stepFailed, e) }

// LineOverlapError reports that two edits of a file change the same lines.
type LineOverlapError struct {
	First, Second int // indices of the edits, from 0
}

// Error names both edits.
func (e *LineOverlapError) Error() string {
	return fmt.Sprintf("Lines overlap: edits %d and %d want the same ones; "+
		"line numbers are those of the file before the step", e.First, e.Second)
}

// MarshalJSON gives the code, the message and the paths.
func (e *LineOverlapError) MarshalJSON() ([]byte, error) { return errorform.Marshal(stepFailed, e) }

// NotFoundError reports that the text of a str_replace is not in a file.
type NotFoundError struct {
	Nearest []string // places that come near to it, and why they are none
	Applied int      // the line at which the new text is there already, 0 if it is not
}

// Error has the nearest places, or the line of the new text.
func (e *NotFoundError) Error() string {
	text := "String not found in file"
	if e.Applied > 0 {
		return fmt.Sprintf("%s: already applied: the new text is in line %d", text, e.Applied)
	}
	if len(e.Nearest) > 0 {
		text += ": nearest is " + strings.Join(e.Nearest, "; then ")
	}
	return text
}

// MarshalJSON gives the code, the message and the paths.
func (e *NotFoundError) MarshalJSON() ([]byte, error) { return errorform.Marshal(stepFailed, e) }

// NotUniqueError reports that the text of a str_replace without replace_all is in a file more than once.
type NotUniqueError struct {
	Count int   // how often it is there
	Lines []int // where, from 1, after the edits before it; each line once, no more than the first hundred
	more  bool  // there are others
}

// mostLines limits the lines in a NotUniqueError.
const mostLines = 100

// add counts a place.
func (e *NotUniqueError) add(line int) {
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
func (e *NotUniqueError) Error() string {
	lines := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(e.Lines)), ", "), "[]")
	if e.more {
		lines += " and more"
	}
	what := "lines"
	if len(e.Lines) == 1 {
		what = "line"
	}
	return fmt.Sprintf("String found %d times in file: in %s %s; set replace_all, or make old_str longer",
		e.Count, what, lines)
}

// MarshalJSON gives the code, the message and the paths.
func (e *NotUniqueError) MarshalJSON() ([]byte, error) { return errorform.Marshal(stepFailed, e) }
