package workspace

import (
	"cmp"
	"context"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// Bring stages changes that were made outside the stage as the work of a step. The changes count like all other text
// that a step writes; brought is the total of the attempt, which Bring increases. The error is a *stage.DriftError if
// another program has written to the same paths.
func Bring(ctx context.Context, view *stage.Stage, call *actions.Call, changes []scratch.Change,
	brought *int64) (actions.Outcome, error) {
	left := call.Limits.StagedBytes() - call.StagedBefore - call.Staged() - *brought
	tooMuch := func(got int64) error {
		return &actions.LimitError{What: kinds.LimitStaged, Limit: call.Limits.StagedBytes(), Got: got}
	}
	grown := int64(0)
	for _, c := range changes {
		if !c.Written {
			continue
		}
		if most := call.Limits.FileBytes(); c.Size > most {
			return actions.Outcome{}, &actions.FileError{Path: c.Path,
				Err: &actions.LimitError{What: kinds.LimitFile, Limit: most, Got: c.Size}}
		}
		if most := call.Limits.OutputBytes(); c.Size > most {
			return actions.Outcome{}, &actions.FileError{Path: c.Path,
				Err: &actions.LimitError{What: kinds.LimitOutput, Limit: most, Got: c.Size}}
		}
		before := int64(0)
		if info, _, err := view.LstatIfPossible(cmp.Or(c.From, c.Path)); err == nil && info.Mode().IsRegular() {
			before = info.Size()
		}
		if grown += max(0, c.Size-before); grown > left { // checked before the first byte is copied
			return actions.Outcome{}, tooMuch(grown)
		}
	}
	staged, err := scratch.Stage(ctx, view, changes)
	if err != nil {
		return actions.Outcome{}, Error(err)
	}
	const perEdit = 64
	*brought += staged.Bytes + perEdit*int64(staged.Edits)
	if got := staged.Bytes + perEdit*int64(staged.Edits); got > left {
		return actions.Outcome{}, tooMuch(got)
	}
	changed, deleted := append([]string{}, staged.Files...), append([]string{}, staged.Removed...)
	return actions.Outcome{
		Files: changed, Renames: staged.Renames, Counts: staged.Counts, Edits: staged.Edits,
		Data: map[string]any{"changed": changed, "deleted": deleted},
	}, nil
}
