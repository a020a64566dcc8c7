package actions

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/replace"
)

// TestErrorForms: json.Marshal of an error wrapped by a step has the code, the message, the paths and the problems.
func TestErrorForms(t *testing.T) {
	broken := errors.New("it <broke>")
	failure := &editFailure{Path: "c.txt", Index: 2, Err: &textError{}}
	hunk := &hunkFailure{Path: "h", Hunk: 1, Line: 2, Err: broken}
	for _, test := range []struct {
		err      error
		paths    string
		problems string // JSON, "" for none
	}{
		{failure, "c.txt", ""},
		{&editFilesError{Failures: []*editFailure{failure, failure}}, "c.txt", ""},
		{&hashError{Want: "w"}, "", ""},
		{&lineOverlapError{First: 1, Second: 2}, "", ""},
		{&textError{Nearest: []string{"line 3"}}, "", ""},
		{&notUniqueError{Count: 2, Lines: []int{1, 2}}, "", ""},
		{&lineError{Start: 1, End: 3, Lines: 2}, "", ""},
		{&patchSyntaxError{Problems: []patchProblem{{Line: 3, Message: "m", Hint: "h"}}},
			"", `[{"message":"m","hint":"h","line":3}]`},
		{hunk, "h", ""},
		{&patchError{Failures: []*hunkFailure{hunk, {Path: "i", Err: broken}}}, "h i", ""},
		{&match.PatternError{Msg: "m"}, "", ""},
		{&replace.OverlapError{}, "", ""},
	} {
		data, err := json.Marshal(test.err)
		if err != nil {
			t.Errorf("%T: %v", test.err, err)
			continue
		}
		var got struct {
			Code, Message string
			Problems      json.RawMessage
			Paths         []string
		}
		if err := json.Unmarshal(data, &got); err != nil || got.Code != "step_failed" || got.Message != test.err.Error() ||
			strings.Join(got.Paths, " ") != test.paths || string(got.Problems) != test.problems {
			t.Errorf("%T: %s, %v", test.err, data, err)
		}
	}
}

// TestFailuresAreFileErrors: a host can find the file and the cause of a failed edit or hunk as a *FileError.
func TestFailuresAreFileErrors(t *testing.T) {
	for _, err := range []error{
		&editFilesError{Failures: []*editFailure{{Path: "p", Index: 1, Err: fs.ErrNotExist}}},
		&patchError{Failures: []*hunkFailure{{Path: "p", Hunk: 1, Err: fs.ErrNotExist}}},
	} {
		if e, ok := errors.AsType[*FileError](err); !ok || e.Path != "p" || e.Err != fs.ErrNotExist {
			t.Errorf("%T has the file %+v", err, e)
		}
	}
}

// TestPatchErrorIsShort: the text has ten failures and the number of the others.
func TestPatchErrorIsShort(t *testing.T) {
	failed := patchError{Failures: slices.Repeat([]*hunkFailure{{Path: "p", Err: fs.ErrNotExist}}, 30)}
	if text := failed.Error(); strings.Count(text, "p (line") != 10 || !strings.HasSuffix(text, "; and 20 more") {
		t.Error(text)
	}
}

// TestPatchHintsOnce: a hint that several problems have is in the text once.
func TestPatchHintsOnce(t *testing.T) {
	failed := patchSyntaxError{Problems: []patchProblem{
		{Line: 1, Message: "one", Hint: "do this"}, {Line: 2, Message: "two", Hint: "do this"}, {Line: 3, Message: "three", Hint: "or that"},
	}}
	want := "line 1 of the patch: one (do this); line 2 of the patch: two; line 3 of the patch: three (or that)"
	if text := failed.Error(); text != want {
		t.Errorf("%q, want %q", text, want)
	}
}
