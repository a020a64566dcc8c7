package actions_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// If the edit was already made, the message for its missing text reports that.
func TestAlreadyApplied(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, old, fresh, want string }{
		"applied":          {"a\nvar fresh = 1\n", "var old = 1", "var fresh = 1", "already applied: the new text is in "},
		"several lines":    {"a\nb\nnew one\nnew two\n", "old one\nold two", "new one\nnew two", "line 3"},
		"short":            {"a\n}\n", "{", "}", ""},
		"deleted":          {"a\n", "b and more", "", ""},
		"nothing is there": {"a\n", "old text", "new text", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := inMemory(t, files{"a.txt": test.text})
			b.must("s", actions.Edit{OldText: test.old, NewText: test.fresh}, []string{"a.txt"})
			edits := []actions.LineEdit{{Command: "str_replace", OldStr: test.old, NewStr: &test.fresh}}
			_, err := b.run("l", actions.EditFiles{FileEdits: []actions.FileEdits{{Path: "a.txt", Edits: edits}}}, nil)
			if err == nil {
				t.Fatal("the edit was made")
			}
			told := []string{strings.Join(b.warnings, "\n"), err.Error()}
			for _, text := range told {
				if test.want == "" && strings.Contains(text, "already") || !strings.Contains(text, test.want) {
					t.Errorf("the message is %q", text)
				}
			}
		})
	}
}
