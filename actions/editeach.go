package actions

import (
	"bytes"
	"context"

	"github.com/spf13/afero"
)

// EditEach is what the Run of an action can be that makes new text of old, file by file:
//
//	func (Upper) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
//		return c.EditEach(ctx, func(name string, old []byte) ([]byte, error) { return bytes.ToUpper(old), nil })
//	}
//
// It calls edit for every file of the call with its bytes, which edit may change and return, and stages what it
// returns. Files are read and written within the host's limits, through symbolic links, each file once, and keep
// their mode; a file whose bytes stay the same is not touched. The outcome has the files that changed, each as one
// edit. The first error, in the order of the list, is returned as a *FileError. edit is called from several
// goroutines.
func (c *Call) EditEach(ctx context.Context, edit func(name string, old []byte) ([]byte, error)) (Outcome, error) {
	files, err := distinctTargets(c, false)
	if err != nil {
		return Outcome{}, err
	}
	changed := make([]bool, len(files))
	err = c.Each(ctx, files, func(_ context.Context, i int, name string) error {
		old, err := c.readFile(name)
		if err != nil {
			return fileError(name, err)
		}
		text, err := edit(name, bytes.Clone(old))
		switch {
		case err != nil:
			return fileError(name, err)
		case bytes.Equal(old, text):
			return nil
		case int64(len(text)) > c.Limits.OutputBytes():
			return fileError(name, &LimitError{What: LimitOutput, Limit: c.Limits.OutputBytes(), Got: int64(len(text))})
		}
		if err := c.spendBytes(int64(len(text))); err != nil {
			return err
		}
		changed[i] = true
		return fileError(name, afero.WriteFile(c.FS, name, text, 0o644))
	})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Counts: make(map[string]int)}
	for i, name := range files {
		if changed[i] {
			out.Files = append(out.Files, name)
			out.Counts[name] = 1
			out.Edits++
		}
	}
	return out, nil
}
