package actions_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// TestPathsCount: the changes of a path count as stated in docs/limits.md: the exact number of bytes is enough, one
// byte less is not.
func TestPathsCount(t *testing.T) {
	t.Parallel()
	const made, worked = 1024, 512
	for name, test := range map[string]struct {
		action actions.Action
		files  []string
		cost   int64
	}{
		"create":             {actions.Create{Path: "new", Content: "text"}, nil, made + 2*3 + 4},
		"create below":       {actions.Create{Path: "a/b/new"}, nil, 3*made + 2*(1+3+7)},
		"create over":        {actions.Create{Path: "f", Content: "text", Overwrite: true}, nil, worked + 4},
		"copy, in memory":    {actions.Copy{To: "{{name}}2"}, []string{"f", "g"}, 2*(made+2*(1+2)) + 2 + 3},
		"copy to a place":    {actions.Copy{Destination: "a"}, []string{"f"}, made + 2*(1+3) + 2 + made + 2},
		"rename":             {actions.Rename{To: "{{name}}2"}, []string{"f", "g"}, 2 * (worked + 2*(1+2))},
		"rename a directory": {actions.Rename{To: "e"}, []string{"d"}, worked + 2*(1+1) + 2*(worked+2*(3+3))},
		"delete":             {actions.Delete{}, []string{"f", "g"}, 2 * (worked + 2)},
		"delete a directory": {actions.Delete{Recursive: true}, []string{"d"}, worked + 2 + 2*(worked+2*3)},
		"edit":               {actions.Edit{OldText: "x", NewText: "yyy"}, []string{"f", "g"}, worked + 64 + 3},
		"sed":                {actions.PatternReplace{SedPattern: []string{"s/x/yyy/"}, FilePattern: "f"}, nil, worked + 64 + 3},
		"edit_files":         {actions.EditFiles{FileEdits: []actions.FileEdits{{Path: "f", Edits: []actions.LineEdit{{Command: "str_replace", OldStr: "x", NewStr: new("yyy")}}}}}, nil, worked + 64 + 3},
	} {
		for short := range int64(2) {
			b := inMemory(t, files{"f": "x\n", "g": "ab\n", "d/1": "", "d/2": ""})
			c := &actions.Call{FS: (*fsutil.Stage)(b.stage), Files: slices.Clone(test.files), Workers: 1,
				Limits: actions.Limits{MaxStagedBytes: test.cost - short}}
			_, err := test.action.Run(t.Context(), c)
			limit, ok := errors.AsType[*actions.LimitError](err)
			if short == 0 && err != nil || short == 1 && (!ok || limit.What != "bytes staged") {
				t.Errorf("%s with %d bytes: %v; it counts %d", name, test.cost-short, err, c.Staged())
			}
		}
	}
}
