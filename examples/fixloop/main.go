// Fixloop lets an agent work on a Go module until its tests pass, shows the diff, and commits the change. If the tests
// never pass, nothing is written.
//
//	go run ./examples/fixloop
//	go run ./examples/fixloop -dir ./mymodule -budget 2 -agent "claude -p --output-format json" -env ANTHROPIC_API_KEY
//
// Without -agent a scripted agent runs. Without -dir it works on a module in memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/command"
)

// loop is the pipeline. If the second test fails, the agent runs again and receives the output of the test. After three
// visits the failure of the test is a failure of the run.
const loop = `{
	"name": "fix-loop",
	"steps": [
		{"id": "test", "action": "exec", "params": {"command": "go", "args": ["test", "./..."], "discard": true}, "on_fail": "fix", "next": "done"},
		{"id": "fix", "prompt": "The tests of this Go module fail. Make them pass, and leave the tests themselves alone.", "max_visits": 3, "timeout": 900},
		{"id": "again", "action": "exec", "params": {"command": "go", "args": ["test", "./..."], "discard": true},
			"retry_if": [{"step": "fix", "when": {"type": "step_failed", "step_ref": "again"}}]},
		{"id": "done", "action": "search", "params": {"pattern": "func Test", "file_types": [".go"]}}
	]
}`

func main() {
	dir := flag.String("dir", "", "directory of the module; none is a small one in memory")
	program := flag.String("agent", "",
		"command line agent that prints JSON, with its arguments; none is a scripted one")
	env := flag.String("env", "",
		"names of the environment that the agent gets beside HOME and USER, separated by commas")
	dollars := flag.String("budget", "", "what it may cost, in dollars; unlimited by default")
	cache := flag.String("cache", "",
		"directory of the build cache for the tests; by default a new one for this program")
	dryRun := flag.Bool("n", false, "show what would be written, and write nothing")
	flag.Parse()

	x, err := host(*cache, *program == "")
	if err != nil {
		log.Fatal(err)
	}
	x.Agents = map[string]agent.Agent{"": scripted()}
	if *program != "" {
		names := strings.FieldsFunc(*env, func(c rune) bool { return c == ',' })
		x.Agents[""] = commandLine(strings.Fields(*program), names)
	}
	fsys := inMemory()
	if *dir != "" {
		fsys = afero.NewBasePathFs(afero.NewOsFs(), *dir)
	}
	text := loop
	if *dollars != "" {
		text = strings.Replace(text, `"steps"`, `"budget": `+*dollars+`, "steps"`, 1)
	}
	if err := run(context.Background(), x, fsys, text, *dryRun); err != nil {
		log.Fatal(err)
	}
}

// run calls the agent while it plans, so that a person could review the plan. The commit does not call the agent.
func run(ctx context.Context, x millrace.Executor, fsys afero.Fs, text string, dryRun bool) error {
	p, err := millrace.Decode([]byte(text))
	if err != nil {
		return err
	}
	plan, err := x.Plan(ctx, fsys, p)
	if err != nil {
		return err
	}
	for _, v := range plan.Result().History {
		fmt.Println(v.StepID, v.Outcome)
	}
	if err := plan.WriteDiff(os.Stdout); err != nil || dryRun {
		return err
	}
	res, err := plan.Commit(ctx)
	fmt.Println(res)
	return err
}

// host allows the pipeline to run the tests, and no other command. Code of an untrusted agent is compiled with a
// separate build cache, because it could put something into the user's cache that a later build runs. The first build
// with a new cache is slow.
func host(cache string, trusted bool) (millrace.Executor, error) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return millrace.Executor{}, err
	}
	users, modules, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	switch {
	case cache != "":
	case trusted:
		cache = users
	default:
		cache = users + "-fixloop"
	}
	for _, dir := range []string{cache, modules} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return millrace.Executor{}, err
		}
	}
	return millrace.Executor{Commands: command.Policy{
		Allow:   []string{"go test *"},
		PassEnv: []string{"GOFLAGS"},
		Env: map[string]string{"GOCACHE": cache, "GOMODCACHE": modules, "GOPROXY": "off", "GOTOOLCHAIN": "local",
			"CGO_ENABLED": "0"},
		Read:    []string{modules},
		Write:   []string{cache},
		Sandbox: command.BestEffort,
	}}, nil
}

// commandLine returns an agent that runs a program. Its policy differs from the policy of the tests: the program needs
// the network, a key, and its own settings below HOME.
func commandLine(words, env []string) agent.Agent {
	return agent.Command{
		Argv: func(r *agent.Request) []string {
			if r.Sandbox.Model != "" {
				return append(words[:len(words):len(words)], "--model", r.Sandbox.Model)
			}
			return words
		},
		Format: agent.JSON,
		Policy: command.Policy{
			Allow:      []string{command.Pattern(words[0]) + " *"},
			PassEnv:    append([]string{"HOME", "USER"}, env...),
			Network:    true,
			Sandbox:    command.Off, // the program has its own sandbox
			MaxTimeout: time.Hour,
			MaxOutput:  16 << 20,
		},
	}
}

// scripted returns an agent that needs two visits: its first change is wrong, and its second change is right.
func scripted() agent.Agent {
	return agent.Func(func(ctx context.Context, r *agent.Request) (agent.Reply, error) {
		if r.Previous == nil || r.Previous.Error == "" {
			return agent.Reply{}, errors.New("nothing is wrong")
		}
		fmt.Printf("the agent receives from %s: %s\n", r.Previous.Step, r.Previous.Error)
		dir, err := r.Workspace(ctx)
		if err != nil {
			return agent.Reply{}, err
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return agent.Reply{}, err
		}
		defer root.Close()
		body := "a * b"
		if r.Visit > 1 {
			body = "a + b"
		}
		err = root.WriteFile("add.go",
			[]byte("package app\n\n// Add adds.\nfunc Add(a, b int) int { return "+body+" }\n"), 0o644)
		return agent.Reply{Output: "Add returns " + body + " now", Model: "scripted"}, err
	})
}

func inMemory() afero.Fs {
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/app\n\ngo 1.24\n",
		"add.go":      "package app\n\n// Add adds.\nfunc Add(a, b int) int { return a - b }\n",
		"add_test.go": "package app\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"Add(1, 2) = %d\", got)\n\t}\n}\n",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	return fsys
}
