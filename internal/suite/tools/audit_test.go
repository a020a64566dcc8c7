package tools_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// An audit names the tool that a step has called.
func TestAuditNamesTheTool(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := millrace.New("p").Step("ask", look("x")).Step("s", actions.Search{Pattern: "x"}).MustBuild()
	x := millrace.Executor{Tools: new(host).tools(), Observe: millrace.Audit(&out)}
	if _, err := x.Run(t.Context(), suite.Tree("a", "x"), p); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[0], `"action":"tool","tool":"users.find"`) || strings.Contains(lines[1], `"tool":`) {
		t.Errorf("the lines are %q", lines)
	}
}
