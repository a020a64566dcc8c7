package actions_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// Run goes by what Validate has kept: here something else than what the action says, so that it shows.
func TestKeptIsUsed(t *testing.T) {
	t.Parallel()
	sed := func(script string) actions.PatternReplace {
		return actions.PatternReplace{SedPattern: []string{script}, FilePattern: "*.txt", Directory: "."}
	}
	for _, test := range []struct {
		name       string
		says, kept actions.Action
		want       string
	}{
		{"pattern_replace", sed("s/a/1/"), sed("s/b/2/"), "a2\n"},
		{"pattern_replace without", sed("s/a/1/"), actions.Search{}, "1b\n"},
		{"pattern_replace too large", sed("s/a/1/"), sed("s/b{30000}/2/"), "1b\n"},
		// another pattern
		{"edit", actions.Edit{OldText: "a|x", NewText: "1", Mode: "regex"}, actions.Edit{OldText: "b|y", Mode: "regex"}, "1b\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := inMemory(t, files{"f.txt": "ab\n"})
			var check actions.Check
			test.kept.(actions.Validator).Validate(&check)
			if len(check.Problems) > 0 {
				t.Fatal(check.Problems)
			}
			c := &actions.Call{FS: (*fsutil.Stage)(b.stage.For("s", false)), Step: "s", Files: []string{"f.txt"}, Kept: check.Keep}
			if _, err := test.says.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if got := b.tree()["f.txt"]; got != test.want {
				t.Errorf("the file is %q, want %q", strings.TrimSpace(got), test.want)
			}
		})
	}
}
