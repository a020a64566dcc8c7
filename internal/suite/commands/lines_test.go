package commands_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// A name with a line break would become two lines, so a list with such a name is refused as the input of a command.
func TestNamesAreLines(t *testing.T) {
	t.Parallel()
	x := host(t)
	for name, stdin := range map[string]any{
		"in a list": []any{"{{find.files}}"},
		"typed":     []string{"first", "{{find.files}}"},
	} {
		p := millrace.New("p").
			Step("find", actions.Search{Pattern: "one"}).
			Step("cat", actions.Exec{Command: "cat", Stdin: stdin}).
			MustBuild()
		_, err := x.Run(t.Context(), suite.Tree("a\nb.txt", "one\n", "c.txt", "one\n"), p)
		if err == nil || !strings.Contains(err.Error(), `line break`) {
			t.Errorf("%s: %v", name, err)
		}
		run(t, x, suite.Tree("a b.txt", "one\n", "c.txt", "one\n"), p)
	}
	text := actions.Exec{Command: "cat", Stdin: []any{"two\nlines"}} // a text that the pipeline has written itself
	if res := run(t, x, memory(), suite.One(text)); res.Results[0].Output != "two\nlines\n" {
		t.Errorf("it has read %q", res.Results[0].Output)
	}
}
