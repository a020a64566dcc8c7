package actions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/patch/placing"
	"github.com/millrace-go/millrace/internal/worded"
)

// patchSyntaxError reports that the text of a [Patch] is not a patch, or not a usable patch.
type patchSyntaxError struct {
	Problems []patchProblem // in the order they were found, a hundred at most
}

// patchProblem is a problem at one line of a patch.
type patchProblem struct {
	Line    int // of the patch, from 1; 0 if the whole patch is meant
	Message string
	Hint    string // the advice, "" if it is obvious

	advice error // the hint in its parts, nil if it has none
}

// inParts returns the hint.
func (p patchProblem) inParts() error {
	if p.advice != nil {
		return p.advice
	}
	return errors.New(p.Hint)
}

// Error lists the problems, no more than ten.
func (e *patchSyntaxError) Error() string { return e.message("").Error() }

// As sets a target of a door of the project to the parts of the message.
func (e *patchSyntaxError) As(target any) bool { return e.message("").Give(target) }

// message returns the problems with their hints. Each hint occurs once; the hint without is left out.
func (e *patchSyntaxError) message(without string) *worded.Error {
	hinted := map[string]bool{"": true, without: true}
	return worded.Join(names.FirstErrors(e.Problems, mostFailures, func(p patchProblem) error {
		text := p.Message
		if p.Line > 0 {
			text = fmt.Sprintf("line %d of the patch: %s", p.Line, text)
		}
		if hinted[p.Hint] {
			return errors.New(text)
		}
		hinted[p.Hint] = true
		return worded.Errorf("%s (%v)", text, p.inParts())
	}), "; ")
}

// MarshalJSON returns the code, the message and the problems.
func (e *patchSyntaxError) MarshalJSON() ([]byte, error) {
	problems := make([]errorform.Problem, len(e.Problems))
	for i, p := range e.Problems {
		problems[i] = errorform.Problem{Line: p.Line, Message: p.Message, Hint: p.Hint}
	}
	return errorform.Marshal(errorform.StepFailed, e, problems...)
}

// patchError lists every part of a [Patch] that cannot be applied, in the order of the patch.
type patchError struct {
	Failures []*hunkFailure
}

// hunkFailure is the reason why a hunk of a file cannot be applied, or why the file cannot be changed.
type hunkFailure struct {
	Path string // of the file; the text of the patch, if that is not a valid name
	Hunk int    // in the file, from 1; 0 if the whole file is meant
	Line int    // of the patch, from 1
	// Err is the cause, such as [fs.ErrNotExist], [fs.ErrExist], an *[AmbiguousHunkError] or a *[MissingHunkError].
	Err error
}

// AmbiguousHunkError reports that the lines of a hunk are in a file several times.
type AmbiguousHunkError = placing.AmbiguousError

// MissingHunkError reports that the lines of a hunk are not in a file, with the nearest place.
type MissingHunkError = placing.MissingError

// Error lists the failures, no more than ten.
func (e *patchError) Error() string {
	return strings.Join(names.First(e.Failures, mostFailures, (*hunkFailure).Error), "; ")
}

// Paths returns the files of the failures.
func (e *patchError) Paths() []string {
	paths := make([]string, len(e.Failures))
	for i, one := range e.Failures {
		paths[i] = one.Path
	}
	return paths
}

// MarshalJSON returns the code, the message and the paths.
func (e *patchError) MarshalJSON() ([]byte, error) { return errorform.Marshal(errorform.StepFailed, e) }

// Unwrap returns the failures.
func (e *patchError) Unwrap() []error {
	errs := make([]error, len(e.Failures))
	for i, f := range e.Failures {
		errs[i] = f
	}
	return errs
}

// Error names the file, the hunk and the line of the patch.
func (f *hunkFailure) Error() string {
	if f.Hunk == 0 {
		return fmt.Sprintf("%s (line %d of the patch): %s", f.Path, f.Line, f.reason())
	}
	return fmt.Sprintf("%s: hunk %d (line %d of the patch): %s", f.Path, f.Hunk, f.Line, f.reason())
}

// Paths returns the file of the failure.
func (f *hunkFailure) Paths() []string { return []string{f.Path} }

// MarshalJSON returns the code, the message and the paths.
func (f *hunkFailure) MarshalJSON() ([]byte, error) {
	return errorform.Marshal(errorform.StepFailed, f)
}

// Unwrap returns Err.
func (f *hunkFailure) Unwrap() error { return f.Err }

// As returns the file and the cause as a *[FileError].
func (f *hunkFailure) As(target any) bool { return asFileError(target, f.Path, f.Err) }

// reason returns the cause in the words that reports use.
func (f *hunkFailure) reason() string {
	if e, ok := errors.AsType[*unstrippedError](f.Err); ok {
		return e.Error()
	}
	return reportText(&FileError{Path: f.Path, Err: f.Err})
}

// patchLimit returns the error of a limit in the form of this package, and other errors unchanged.
func patchLimit(err error) error {
	e, ok := errors.AsType[*patch.LimitError](err)
	if !ok {
		return err
	}
	what := map[string]string{
		patch.WhatBytes: kinds.LimitPatchBytes, patch.WhatFiles: kinds.LimitPatchFiles,
		patch.WhatHunks: kinds.LimitPatchHunks,
		patch.WhatLines: kinds.LimitPatchLines, patch.WhatSteps: kinds.LimitPatchSteps,
	}[e.What]
	return &LimitError{What: what, Limit: e.Limit}
}
