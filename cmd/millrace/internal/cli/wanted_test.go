package cli

import (
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// The question about programs shows a command with the values of its variables, and names the source of each value that
// is known only when the pipeline runs.
func TestWantedLine(t *testing.T) {
	values := map[string]any{"dir": "src/a b", "list": []any{"x", "y z"}, "nested": "{{vars.dir}}"}
	for _, tt := range []struct {
		exec actions.Exec
		want string
	}{
		{actions.Exec{Command: "gofmt", Args: []string{"-w", "{{vars.dir}}"}}, `step 's': gofmt -w 'src/a b'`},
		{actions.Exec{Command: "rm", Args: []string{"{{ vars.list }}"}}, `step 's': rm x 'y z'`},
		{actions.Exec{Shell: "ls {{vars.dir}} {{find.files}}"},
			`step 's': /bin/sh -c 'ls src/a b {{find.files}}' ({{find.files}} from step 'find')`},
		{actions.Exec{Command: "ls", Args: []string{"{{vars.none}}", "{{prev.output}}"}},
			`step 's': ls {{vars.none}} {{prev.output}} ` +
				`({{vars.none}} from the variables, {{prev.output}} from the step before)`},
		{actions.Exec{Command: "echo", Args: []string{"{{vars.nested}}", `\{{vars.dir}}`}},
			`step 's': echo {{vars.dir}} \{{vars.dir}}`},
	} {
		if got := (wanted{step: "s", exec: tt.exec, values: values}).line(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// The error about a ceiling names the setting that set it.
func TestCeilingSource(t *testing.T) {
	a := &App{}
	a.config.Project.Ceiling = 1
	if got := a.ceilingSource("LOW"); got != "'ceiling' in .millrace.yaml" {
		t.Error(got)
	}
	a.flags.ceiling = "low"
	if got := a.ceilingSource("LOW"); got != "--ceiling" {
		t.Error(got)
	}
	if got := a.ceilingSource("MEDIUM"); got != "'ceiling' in your configuration" {
		t.Error(got)
	}
}
