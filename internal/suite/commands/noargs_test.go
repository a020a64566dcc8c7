package commands_test

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// TestNoArguments: a command that expects files is not run with an empty list of files.
func TestNoArguments(t *testing.T) {
	t.Parallel()
	for pattern, ran := range map[string]bool{"absent": false, "one": true} {
		p := millrace.New("p").
			Step("find", actions.Search{Pattern: pattern}).
			Step("format", actions.Exec{Command: "printf", Args: []string{"<%s>", "{{find.files}}"}}).
			Step("test", actions.Exec{Command: "printf", Args: []string{"tested"}}).
			MustBuild()
		res := run(t, host(t), memory(), p)
		format, test := res.Results[1], res.Results[2]
		if format.Skipped == ran || (format.Output != "") != ran || test.Output != "tested" || !res.Success {
			t.Errorf("%s: format %+v, test %+v", pattern, format, test)
		}
		warned := strings.Join(res.AllWarnings(), "\n")
		if strings.Contains(warned, "{{find.files}} is an empty list") == ran {
			t.Errorf("%s: warnings %q", pattern, warned)
		}
	}
}

// TestEmptiedLists: a template that empties the arguments as a whole, or a list that restricts the files, does not
// remove the restriction.
func TestEmptiedLists(t *testing.T) {
	t.Parallel()
	const script = `"action": "exec", "params": {"shell": "ls; echo two >>a.txt; echo new >b.txt", `
	for step, test := range map[string]struct{ output, text, warning string }{
		`"action": "exec", "params": {"command": "printf", "args": "{{find.files}}"}`: {"", "one\n", "was not run"},
		script + `"writes": "{{find.files}}"}`:                                        {"a.txt\nd\n", "one\n", "comes back"},
		script + `"writes": ["{{find.files}}"]}`:                                      {"a.txt\nd\n", "one\n", "comes back"},
		script + `"writes": []}`:                                                      {"a.txt\nd\n", "one\ntwo\n", ""},
		script + `"needs": "{{find.files}}", "writes": ["b.txt"]}`:                    {"", "one\n", "sees no files"},
	} {
		p, err := millrace.Decode([]byte(`{"name": "p", "steps": [
			{"id": "find", "action": "search", "params": {"pattern": "absent"}}, {"id": "run", ` + step + `}]}`))
		if err != nil {
			t.Errorf("%s: %v", step, err)
			continue
		}
		fsys := memory()
		res := run(t, host(t), fsys, p)
		if text, _ := afero.ReadFile(fsys, "a.txt"); string(text) != test.text || res.Results[1].Output != test.output {
			t.Errorf("%s: a.txt has %q, output %q", step, text, res.Results[1].Output)
		}
		warned := strings.Join(res.AllWarnings(), "\n")
		if !strings.Contains(warned, test.warning) || strings.Contains(warned, "empty list") != (test.warning != "") {
			t.Errorf("%s: warnings %q", step, warned)
		}
	}
}
