package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/suite"
)

// An agent that is a program works in the workspace, reads its prompt, and passes files outside the tree on. It can
// reach nothing else where the system can confine it.
func TestProgram(t *testing.T) {
	t.Parallel()
	policy := command.Policy{Allow: []string{"sh -c *"}}
	if err := policy.Supported(); err != nil {
		t.Skipf("programs cannot be confined here: %v", err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	script := func(text string) agent.Agent {
		return agent.Command{Argv: func(*agent.Request) []string { return []string{"sh", "-c", text} }, Policy: policy}
	}
	x := executor(t, script(`cat > asked.txt; sed -i s/one/ONE/ a.txt; echo note > "$MILLRACE_SHARED/note"; echo x > '`+outside+`' || echo confined`))
	x.Agents["reads"] = script(`cat "$MILLRACE_SHARED/note" a.txt; rm a.txt`)
	x.Agents["alone"] = script(`ls; cat`)
	reads := actions.Prompt{Prompt: "look", Agent: "reads", Workspace: "read"}
	alone := actions.Prompt{Prompt: "say", Agent: "alone", Workspace: "none"}
	p := millrace.New("p").Step("fix", actions.Prompt{Prompt: "fix it"}).MaxRetries(0).Step("look", reads).MaxRetries(0).Step("say", alone).MaxRetries(0).MustBuild()
	_, fsys := suite.Rooted(t, "a.txt", "one\n")
	res, err := x.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := suite.Read(t, fsys, "a.txt") + suite.Read(t, fsys, "asked.txt"); got != "ONE\nfix it" {
		t.Errorf("the tree has %q", got)
	}
	if got := res.Results[1].Output; got != "note\nONE\n" {
		t.Errorf("the second has the output %q", got)
	}
	if got := res.Results[2].Output; !strings.HasPrefix(got, "say\n\nOutput of the previous step 'look':\n\n```\nnote\nONE\n```\n") {
		t.Errorf("the third has the output %q", got)
	}
	if _, err := os.Stat(outside); err == nil || res.Results[0].Output != "confined\n" {
		t.Errorf("it has written outside: %v, %q", err, res.Results[0].Output)
	}
}
