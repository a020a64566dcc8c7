package cli

import (
	"errors"
	"testing"

	"github.com/millrace-go/millrace/backup"
)

// The newest backup is first. A redo is an undo of an undo.
func TestHistory(t *testing.T) {
	t.Parallel()
	damaged := errors.New("damaged")
	for name, c := range map[string]struct {
		h            history
		commit, undo string
	}{
		"nothing":        {},
		"one":            {h: history{{ID: "1"}}, commit: "1"},
		"undone":         {h: history{{ID: "2", Restores: "1"}, {ID: "1", UndoneBy: "2"}}, undo: "2"},
		"undone in part": {h: history{{ID: "2", Restores: "1"}, {ID: "1", UndoneBy: "2", Left: 1}}, commit: "1", undo: "2"},
		"redone":         {h: history{{ID: "3", Restores: "2"}, {ID: "2", Restores: "1", UndoneBy: "3"}, {ID: "1"}}, commit: "1"},
		"undone again": {
			h:    history{{ID: "4", Restores: "1"}, {ID: "3", Restores: "2"}, {ID: "2", Restores: "1", UndoneBy: "3"}, {ID: "1", UndoneBy: "4"}},
			undo: "4",
		},
		"the redo undone": {
			h:    history{{ID: "4", Restores: "3"}, {ID: "3", Restores: "2", UndoneBy: "4"}, {ID: "2", Restores: "1"}, {ID: "1", UndoneBy: "2"}},
			undo: "4",
		},
		"two":                  {h: history{{ID: "3", Restores: "2"}, {ID: "2", UndoneBy: "3"}, {ID: "1"}}, commit: "1", undo: "3"},
		"the older one undone": {h: history{{ID: "3", Restores: "1"}, {ID: "2"}, {ID: "1", UndoneBy: "3"}}, commit: "2", undo: "3"},
		"pruned":               {h: history{{ID: "3", Restores: "1"}, {ID: "2"}}, commit: "2", undo: "3"},
		"damaged, newer":       {h: history{{ID: "1"}, {ID: "2", Err: damaged}}},
		"damaged, older":       {h: history{{ID: "2"}, {ID: "1", Err: damaged}}, commit: "2"},
	} {
		commit, err := c.h.lastCommit()
		if commit != c.commit || (err == nil) != (c.commit != "") || err != nil && statusOf(err) != exitUsage {
			t.Errorf("%s: the last commit is %q, %v", name, commit, err)
		}
		undo, err := c.h.lastUndo()
		if undo != c.undo || (err == nil) != (c.undo != "") || err != nil && statusOf(err) != exitUsage {
			t.Errorf("%s: the last undo is %q, %v", name, undo, err)
		}
	}
	if (history{{ID: "2", Restores: "1"}, {ID: "1"}}).isUndo(backup.Info{ID: "1"}) {
		t.Error("a commit is an undo")
	}
}
