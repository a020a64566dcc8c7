package actions_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

// TestCallReadFile: the limit applies to files that a custom action reads, also in a Call with nothing but a stage.
func TestCallReadFile(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, base(t), files{"five": "12345", "six": "123456"})
			c := &actions.Call{FS: (*fsutil.Stage)(b.stage)}
			if data, err := c.ReadFile("six"); err != nil || string(data) != "123456" {
				t.Errorf("without a limit: %q, %v", data, err)
			}
			c.Limits.MaxFileBytes = 5
			if data, err := c.ReadFile("five"); err != nil || string(data) != "12345" {
				t.Errorf("at the limit: %q, %v", data, err)
			}
			_, err := c.ReadFile("six")
			over, ok := errors.AsType[*actions.LimitError](err)
			if !ok || *over != (actions.LimitError{What: "file bytes", Limit: 5, Got: 6}) ||
				!errors.Is(err, fsutil.ErrTooLarge) {
				t.Errorf("beyond the limit: %v", err)
			}
			wantError(t, err, "six: file is too large (max 5 bytes, got 6): leave it out, or have the host raise MaxFileBytes")
			if _, err := c.ReadFile("none"); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsutil.ErrTooLarge) {
				t.Errorf("what is not there: %v", err)
			}
		})
	}
}

// TestLimitsInEveryFile: the limits on replacements apply to each file, not to the whole step.
func TestLimitsInEveryFile(t *testing.T) {
	b := inMemory(t, files{"a": "xxx", "b": "xxx"})
	c := &actions.Call{FS: (*fsutil.Stage)(b.stage), Files: []string{"a", "b"},
		Limits: actions.Limits{MaxMatches: 3, MaxOutputBytes: 6}}
	out, err := actions.Edit{OldText: "x", NewText: "yy"}.Run(t.Context(), c)
	if err != nil || out.Edits != 6 {
		t.Errorf("%+v, %v", out, err)
	}
	b.wantTree(files{"a": "yyyyyy", "b": "yyyyyy"})
}

// TestLineEndsCount: line ends added in the form of the file count towards the limit, and replacements without a change
// do not.
func TestLineEndsCount(t *testing.T) {
	run := func(most int64, old, text string) error {
		b := inMemory(t, files{"a": "x\r\n" + strings.Repeat("same ", 100)})
		c := &actions.Call{FS: (*fsutil.Stage)(b.stage), Files: []string{"a"}, Limits: actions.Limits{MaxOutputBytes: most}}
		_, err := actions.MultiEdit{Edits: []actions.TextEdit{{OldText: old, NewText: text}}}.Run(t.Context(), c)
		return err
	}
	if err := run(5, "x\n", "y\n\n"); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, ok := errors.AsType[*actions.LimitError](run(4, "x\n", "y\n\n")); !ok {
		t.Error("the carriage returns were not counted")
	}
	if err := run(1, "same", "same"); err != nil {
		t.Errorf("what changes nothing: %v", err)
	}
}

// TestFailedFilesStageNothing: text for a file that stays unchanged leaves room for the other files.
func TestFailedFilesStageNothing(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"a": "xxxxx", "b": "x"})
	c := &actions.Call{
		FS: (*fsutil.Stage)(b.stage), Files: []string{"a", "b"}, Workers: 1,
		// When the fifth match in a exceeds the limit, five edits of 64 bytes each have been made. The file that is edited in
		// the end costs 512.
		Limits: actions.Limits{MaxMatches: 4, MaxStagedBytes: 5*64 + 512 + 20},
	}
	out, err := actions.Edit{OldText: "x", NewText: strings.Repeat("y", 20), OnError: "continue"}.Run(t.Context(), c)
	if err != nil || out.Edits != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	b.wantTree(files{"a": "xxxxx", "b": strings.Repeat("y", 20)})
}

// TestEditedAgainCountsOnce: if another view of the stage writes to a file while it is edited, it is edited again. The
// bytes that the first attempt used of the limit are free for the second attempt.
func TestEditedAgainCountsOnce(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("y", 20)
	b := inMemory(t, files{"a": "x"})
	wrote := false
	c := &actions.Call{
		FS: (*fsutil.Stage)(b.stage), Files: []string{"a"}, Limits: actions.Limits{MaxStagedBytes: int64(512 + 64 + len(text))},
		OnBytes: func(int64) {
			if !wrote {
				wrote = true
				if err := b.stage.Edit("a", []change.Splice{{Text: []byte("other ")}}); err != nil {
					t.Error(err)
				}
			}
		},
	}
	if _, err := (actions.Edit{OldText: "x", NewText: text}).Run(t.Context(), c); err != nil || !wrote {
		t.Errorf("%v, wrote %v", err, wrote)
	}
	b.wantTree(files{"a": "other " + text})
}
