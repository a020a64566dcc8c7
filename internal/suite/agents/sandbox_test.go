package agents_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/internal/suite"
)

var whole = agent.Sandbox{
	Model: "m", Tools: []string{"Read", "Write"}, SystemPrompt: "be kind", Timeout: 1500 * time.Millisecond, Memory: "4g", GPU: true, Workdir: "/w",
	Options: map[string]any{"n": int64(1), "list": []any{"x", nil}},
}

// A sandbox is encoded as JSON and decoded again, counts for Equal and Digest, and is copied.
func TestSandbox(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Sandbox(whole).Step("a", quiet("p")).MustBuild()
	const text = `"sandbox":{"model":"m","tools":["Read","Write"],"system_prompt":"be kind","timeout":1.5,"memory":"4g","gpu":true,"workdir":"/w",` +
		`"options":{"list":["x",null],"n":1}}`
	if got := suite.JSON(t, p); !cmp.Equal(got, `{"name":"p",`+text+`,"steps":[{"id":"a","action":"prompt","params":{"prompt":"p","context":"none","workspace":"none"}}]}`) {
		t.Errorf("it is written as %s", got)
	}
	q := decode(t, []byte(suite.JSON(t, p)))
	if diff := cmp.Diff(whole, q.Sandbox()); diff != "" || !p.Equal(q) {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, change := range map[string]func(*agent.Sandbox){
		"Model":        func(s *agent.Sandbox) { s.Model = "" },
		"Tools":        func(s *agent.Sandbox) { s.Tools = []string{"Read"} },
		"SystemPrompt": func(s *agent.Sandbox) { s.SystemPrompt = "" },
		"Timeout":      func(s *agent.Sandbox) { s.Timeout = 0 },
		"Memory":       func(s *agent.Sandbox) { s.Memory = "" },
		"GPU":          func(s *agent.Sandbox) { s.GPU = false },
		"Workdir":      func(s *agent.Sandbox) { s.Workdir = "" },
		"Options":      func(s *agent.Sandbox) { s.Options = map[string]any{"n": 2} },
	} {
		s := whole
		change(&s)
		other := millrace.New("p").Sandbox(s).Step("a", quiet("p")).MustBuild()
		if other.Equal(p) || other.Digest() == p.Digest() {
			t.Errorf("%s does not count", name)
		}
	}
	given := agent.Sandbox{Tools: []string{"a"}, Options: map[string]any{"o": []any{"x"}}}
	b := millrace.New("p").Sandbox(given)
	p = b.Step("a", quiet("p")).MustBuild()
	given.Tools[0], given.Options["o"].([]any)[0] = "b", "y"
	p.Sandbox().Options["o"].([]any)[0] = "z"
	if s := p.Sandbox(); s.Tools[0] != "a" || s.Options["o"].([]any)[0] != "x" {
		t.Errorf("it is shared: %+v", s)
	}
	if plain := millrace.New("p").Step("a", quiet("p")).MustBuild(); !plain.Equal(millrace.New("p").Sandbox(agent.Sandbox{}).Step("a", quiet("p")).MustBuild()) {
		t.Error("an empty sandbox counts")
	}
}

// Each mistake in a sandbox is reported at its place, in Go and in JSON.
func TestSandboxProblems(t *testing.T) {
	t.Parallel()
	problem := func(err error) string {
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok || len(invalid.Problems) != 1 {
			t.Errorf("%v", err)
			return ""
		}
		return invalid.Problems[0].Pointer + " " + invalid.Problems[0].Code
	}
	for text, want := range map[string]string{
		`{"model": 7}`:               "/sandbox/model wrong_type",
		`{"modle": "m"}`:             "/sandbox/modle unknown_field",
		`{"timeout": 0}`:             "/sandbox/timeout invalid_timeout",
		`{"timeout": 86401}`:         "/sandbox/timeout invalid_timeout",
		`{"timeout": 1.0001}`:        "/sandbox/timeout invalid_timeout",
		`{"tools": []}`:              "/sandbox/tools bad_value",
		`{"tools": ["x", 7]}`:        "/sandbox/tools/1 wrong_type",
		`{"options": {"a": 1e999}}`:  " invalid_json",
		`{"gpu": null}`:              "/sandbox/gpu wrong_type",
		`"small"`:                    "/sandbox wrong_type",
		`{"options": [1]}`:           "/sandbox/options wrong_type",
		`{"prompt": "not one here"}`: "/sandbox/prompt unknown_field",
	} {
		_, err := millrace.Decode([]byte(`{"name": "p", "sandbox": ` + text + `, "steps": [{"id": "a", "prompt": "p"}]}`))
		if got := problem(err); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for want, s := range map[string]agent.Sandbox{
		"/sandbox/timeout invalid_timeout": {Timeout: -1},
		"/sandbox/tools bad_value":         {Tools: []string{}},
		"/sandbox/model bad_value":         {Model: "a\xff"},
		"/sandbox/options/f bad_value":     {Options: map[string]any{"f": func() {}}},
	} {
		_, err := millrace.New("p").Sandbox(s).Step("a", quiet("p")).Build()
		if got := problem(err); got != want {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
	}
}

// A sandbox has no templates, neither at run time nor in a pipeline that includes it.
func TestSandboxIsText(t *testing.T) {
	t.Parallel()
	const text = `{{a.output}} {{sub-a.output}} {{prev.output}} \{{a.output}} {{run.id}} {{vars.x}}`
	sub := millrace.New("sub").Sandbox(agent.Sandbox{SystemPrompt: text, Tools: []string{"{{a.output}}"}, Options: map[string]any{"o": []any{text}}}).
		Step("a", quiet("p")).Step("b", quiet("{{a.output}}")).MustBuild()
	for name, p := range map[string]millrace.Pipeline{
		"alone":    sub,
		"included": millrace.New("p").Variables(millrace.Variable{Name: "x", Default: "v"}).Include(sub, "sub").MustBuild(),
	} {
		h := new(host)
		if _, err := executor(t, h).Run(t.Context(), suite.Tree(), p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := h.asked[1].Sandbox
		if got.SystemPrompt != text || got.Tools[0] != "{{a.output}}" || got.Options["o"].([]any)[0] != text {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An included pipeline does the same as alone: its sandbox becomes part of each prompt, where the prompt sets nothing.
func TestIncludeFoldsSandbox(t *testing.T) {
	t.Parallel()
	sub := millrace.New("sub").Sandbox(whole).
		Step("a", quiet("p")).
		Step("b", &actions.Prompt{Prompt: "p", Model: "own", Tools: []string{"Bash"}, SystemPrompt: "own", Memory: "1g", GPU: new(false), Workdir: "/own",
			Options: map[string]any{"own": true}, Workspace: "none"}).Timeout(time.Second).
		Step("c", actions.Create{Path: "c.txt", Content: "x"}).Step("raw", quiet("{{a.output}}")).Raw().MustBuild()
	p := millrace.New("p").Sandbox(agent.Sandbox{Model: "outer", Memory: "9g"}).Include(sub, "sub").Step("after", quiet("p")).MustBuild()
	run := func(p millrace.Pipeline) []agent.Sandbox {
		h := new(host)
		if _, err := executor(t, h).Run(t.Context(), suite.Tree(), p); err != nil {
			t.Fatal(err)
		}
		var all []agent.Sandbox
		for _, r := range h.asked {
			all = append(all, r.Sandbox)
		}
		return all
	}
	got := run(p)
	if diff := cmp.Diff(run(sub), got[:3]); diff != "" {
		t.Errorf("(-alone +included):\n%s", diff)
	}
	if diff := cmp.Diff(agent.Sandbox{Model: "outer", Memory: "9g"}, got[3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(whole, got[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
