package millraceotel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/condition"
	millraceotel "github.com/millrace-go/millrace/otel"
	"github.com/millrace-go/millrace/tool"
)

// scripted is a tool that follows a list of words, one for each call, and repeats the last one: "ok", "fail", each with
// a text to return.
type scripted struct {
	name   string
	words  []string
	calls  int
	tracer trace.Tracer // makes a span for each call; nil for none
}

func (s *scripted) Spec() tool.Spec { return tool.Spec{Name: s.name} }

func (s *scripted) Call(ctx context.Context, c *tool.Call) (tool.Result, error) {
	if s.tracer != nil {
		_, span := s.tracer.Start(ctx, "call of "+s.name)
		defer span.End()
	}
	s.calls++
	verb, text, _ := strings.Cut(s.words[min(s.calls, len(s.words))-1], " ")
	if verb == "fail" {
		return tool.Result{}, errors.New("it does not work")
	}
	return tool.Result{Output: text}, nil
}

// scriptedAgent answers each step by its script.
type scriptedAgent struct{ steps map[string]*scripted }

func (a scriptedAgent) Ask(ctx context.Context, r *agent.Request) (agent.Reply, error) {
	res, err := a.steps[r.Step].Call(ctx, nil)
	return agent.Reply{Output: res.Output}, err
}

// A loop that runs tests, fixes and verifies, and reports what it cannot fix: the spans of its five paths, with steps
// that call a tool, and with steps that ask an agent.
func TestSpansOfAFixingLoop(t *testing.T) {
	t.Parallel()
	const calls = "    call of "
	for name, test := range map[string]struct {
		tests, fix, verify string
		want               string
	}{
		"the tests pass": {"ok", "ok", "ok", `
RUN loop success | jump verify-fix-next-coverage
  run-tests success
    call of run-tests
  auto-fix skip
  verify-fix success
    call of verify-fix
  coverage success
    call of coverage
  report-failure skip
`},
		"the fix helps": {"fail", "ok", "ok", `
RUN loop success | jump run-tests-on_fail-auto-fix | jump verify-fix-next-coverage
  run-tests failure tool_failed | retry 2 tool_failed
    call of run-tests
    call of run-tests
  auto-fix success
    call of auto-fix
  verify-fix success
    call of verify-fix
  coverage success
    call of coverage
  report-failure skip
`},
		"the second fix helps": {"fail", "ok", "ok still failing,ok", `
RUN loop success | jump run-tests-on_fail-auto-fix | jump verify-fix-retry_if-auto-fix | jump verify-fix-next-coverage
  run-tests failure tool_failed | retry 2 tool_failed
    call of run-tests
    call of run-tests
  auto-fix success
    call of auto-fix
  verify-fix success
    call of verify-fix
  auto-fix success
    call of auto-fix
  verify-fix success
    call of verify-fix
  coverage success
    call of coverage
  report-failure skip
`},
		"no fix helps": {"fail", "ok", "ok still failing", `
RUN loop success | jump run-tests-on_fail-auto-fix` + strings.Repeat(" | jump verify-fix-retry_if-auto-fix", 3) + ` | jump verify-fix-on_fail-report-failure
  run-tests failure tool_failed | retry 2 tool_failed
    call of run-tests
    call of run-tests
` + strings.Repeat(`  auto-fix success
    call of auto-fix
  verify-fix success
    call of verify-fix
`, 3) + `  auto-fix success
    call of auto-fix
  verify-fix failure retries_exhausted
    call of verify-fix
  report-failure success
    call of report-failure
`},
		"the fixer fails": {"fail", "fail", "ok", `
RUN loop success | jump run-tests-on_fail-auto-fix | jump auto-fix-on_fail-report-failure
  run-tests failure tool_failed | retry 2 tool_failed
    call of run-tests
    call of run-tests
  auto-fix failure tool_failed | retry 2 tool_failed | retry 3 tool_failed | retry 4 tool_failed
` + strings.Repeat(calls+"auto-fix\n", 4) + `  report-failure success
    call of report-failure
`},
	} {
		for _, by := range []string{"tools", "agents"} {
			t.Run(name+" by "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := record()
					scripts := make(map[string]*scripted)
					var list []tool.Tool
					for name, script := range map[string]string{
						"run-tests": test.tests, "auto-fix": test.fix, "verify-fix": test.verify, "coverage": "ok 87%", "report-failure": "ok",
					} {
						scripts[name] = &scripted{name: name, words: strings.Split(script, ","), tracer: r.provider.Tracer("outside")}
						list = append(list, scripts[name])
					}
					tools, err := tool.New(list...)
					if err != nil {
						t.Fatal(err)
					}
					x := millrace.Executor{Tools: tools, Agents: map[string]agent.Agent{"": scriptedAgent{scripts}}}
					call := func(name string) actions.Action { return actions.Tool{Tool: name} }
					want := test.want[1:]
					if by == "agents" {
						call = func(name string) actions.Action { return actions.Prompt{Prompt: "do " + name} }
						want = strings.ReplaceAll(want, "tool_failed", "agent_failed")
					}
					p := millrace.New("loop").
						Step("run-tests", call("run-tests")).MaxRetries(1).OnFail("auto-fix").
						Step("auto-fix", call("auto-fix")).When(condition.PrevError()).MaxRetries(3).OnFail("report-failure").
						Step("verify-fix", call("verify-fix")).MaxRetries(3).RetryIf("auto-fix", "still failing").
						OnFail("report-failure").Next("coverage").
						Step("coverage", call("coverage")).MaxRetries(3).
						Step("report-failure", call("report-failure")).When(condition.PrevError()).MaxRetries(3).
						MustBuild()
					res, err := millraceotel.Instrument(x, r.option()).Run(t.Context(), tree("x", "x"), p)
					if err != nil || !res.Success {
						t.Fatal(err)
					}
					if d := cmp.Diff(want, r.story(t)); d != "" {
						t.Errorf("(-want +got):\n%s", d)
					}
				})
			})
		}
	}
}
