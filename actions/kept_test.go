package actions_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// Run uses the Keep value of Validate only if it fits the present parameters: an action around it may change them after
// the check.
func TestKeptOfAnother(t *testing.T) {
	t.Parallel()
	sed := func(script string) actions.PatternReplace {
		return actions.PatternReplace{SedPattern: []string{script}, FilePattern: "*.txt", Directory: "."}
	}
	quiet := sed("s/a/1/")
	quiet.Quiet = true
	for _, test := range []struct {
		name       string
		says, kept actions.Action
		want       string
	}{
		{"pattern_replace", sed("s/a/1/"), sed("s/b/2/"), "1b\n"},
		{"pattern_replace quiet", sed("s/a/1/"), quiet, "1b\n"},
		{"pattern_replace without", sed("s/a/1/"), actions.Search{}, "1b\n"},
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
			c := &actions.Call{FS: (*fsutil.Stage)(b.stage.For("s", false)), Step: "s", Files: []string{"f.txt"},
				Kept: check.Keep}
			if _, err := test.says.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if got := b.tree()["f.txt"]; got != test.want {
				t.Errorf("the file is %q, want %q", strings.TrimSpace(got), test.want)
			}
		})
	}
}

// A run does not change the patch that Validate has kept for all runs: a file may be missing in one tree and exist in
// the next tree.
func TestKeptPatchStays(t *testing.T) {
	t.Parallel()
	p := actions.Patch{Text: "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+1\n"}
	var check actions.Check
	p.Validate(&check)
	for _, test := range []struct{ tree, want files }{{files{}, files{"f": "1\n"}}, {files{"f": "2\n"}, files{"f": "1\n2\n"}}} {
		b := inMemory(t, test.tree)
		c := &actions.Call{FS: (*fsutil.Stage)(b.stage.For("s", false)), Step: "s", Kept: check.Keep}
		if _, err := p.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if got := b.tree()["f"]; got != test.want["f"] {
			t.Errorf("the file is %q, want %q", got, test.want["f"])
		}
	}
}

// Run does not parse again what Validate has kept. The memory of the run shows that.
func TestKeptIsUsed(t *testing.T) {
	p := actions.PatternReplace{SedPattern: []string{"s/a{400}b{400}c{400}/x/"}, FilePattern: "*.txt"}
	b := inMemory(t, files{"f.txt": "ab\n"})
	var check, large actions.Check
	p.Validate(&check)
	actions.PatternReplace{SedPattern: []string{"s/b{30000}/2/"}, FilePattern: "*.txt"}.Validate(&large)
	if check.Keep == nil || large.Keep != nil || len(large.Problems) > 0 {
		t.Errorf("kept %v, and of what is large %v, %v", check.Keep, large.Keep, large.Problems)
	}
	allocs := func(kept any) float64 {
		return testing.AllocsPerRun(5, func() {
			c := &actions.Call{FS: (*fsutil.Stage)(b.stage.For("s", false)), Step: "s", Kept: kept}
			if _, err := p.Run(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	if with, without := allocs(check.Keep), allocs(nil); with > without/2 {
		t.Errorf("%v allocations with what was kept, %v without", with, without)
	}
}
