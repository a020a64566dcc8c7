package commands_test

import (
	"strings"
	"testing"

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
