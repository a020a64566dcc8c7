package commands_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/suite"
)

// host returns an executor that runs every command, confined as far as this system can.
func host(t testing.TB) millrace.Executor {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("these tests run Unix commands")
	}
	return millrace.Executor{State: millrace.State{NoSync: true}, Commands: command.Policy{
		Allow: []string{"*", "./*"}, Shell: true, Sandbox: command.BestEffort, Scratch: t.TempDir(),
	}}
}

// goHost returns an executor whose commands find all that the go command needs.
func goHost(t testing.TB) millrace.Executor {
	t.Helper()
	x := host(t)
	if testing.Short() {
		t.Skip("-short: it calls the go command")
	}
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Skip("the go command is missing:", err)
	}
	cache := strings.TrimSpace(string(out))
	installed(t, &x, "go")
	x.Commands.Write = []string{cache}
	x.Commands.Env = map[string]string{"GOCACHE": cache, "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": os.Getenv("GOFLAGS") + " -mod=mod", "CGO_ENABLED": "0"}
	return x
}

// tool skips the test if the program is not installed.
func tool(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(name, "is not installed")
	}
}

// installed skips the test if the program is missing. It lets commands read the directory of the program, which may be
// in the home of a user.
func installed(t testing.TB, x *millrace.Executor, name string) {
	t.Helper()
	tool(t, name)
	file, err := exec.LookPath(name)
	if err == nil {
		x.Commands.Read = append(x.Commands.Read, filepath.Dir(file))
		file, err = filepath.EvalSymlinks(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	x.Commands.Read = append(x.Commands.Read, filepath.Dir(filepath.Dir(file)))
}

// script returns a step that runs a script.
func script(text string) actions.Exec { return actions.Exec{Shell: text} }

// run runs a pipeline that has to succeed.
func run(t *testing.T, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline) *millrace.Result {
	t.Helper()
	res, err := x.Run(t.Context(), fsys, p)
	if err != nil || !res.Success {
		t.Fatalf("%v, %+v", err, res)
	}
	return res
}

// exit returns the data of a step that has run a command.
func exit(t *testing.T, res *millrace.Result, step int) map[string]any {
	t.Helper()
	if res == nil || len(res.Results) <= step {
		t.Fatalf("no step %d in %+v", step, res)
	}
	data, ok := res.Results[step].Data.(map[string]any)
	if !ok {
		t.Fatalf("step %d has the data %#v", step, res.Results[step].Data)
	}
	return data
}

// text returns the text of a file, "" if there is no file.
func text(t *testing.T, fsys afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(fsys, name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// wantText checks that a file has a text, "" for no file.
func wantText(t *testing.T, fsys afero.Fs, name, want string) {
	t.Helper()
	if got := text(t, fsys, name); got != want {
		t.Errorf("%s has %q, want %q", name, got, want)
	}
}

// empty checks that nothing is left of the trees of commands.
func empty(t *testing.T, x millrace.Executor) {
	t.Helper()
	out, err := exec.Command("find", x.Commands.Scratch, "-type", "f", "-size", "+0").Output()
	if err != nil || len(out) > 0 {
		t.Errorf("left of the tree of commands: %s, %v", out, err)
	}
}

// printed collects the output of commands.
type printed struct {
	mu     sync.Mutex
	events []millrace.StepOutput
}

func (p *printed) observe(e millrace.Event) {
	if e, ok := e.(millrace.StepOutput); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.events = append(p.events, e)
	}
}

// of returns all output of a stream.
func (p *printed) of(stream string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, e := range p.events {
		if e.Stream == stream {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

// memory returns a small tree.
func memory() afero.Fs { return suite.Tree("a.txt", "one\n", "d/b.txt", "two\n") }
