package command_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/command"
)

// given runs a command with a Runner and returns its environment, without HOME and TMPDIR.
func given(t *testing.T, p command.Policy, c command.Command) map[string]string {
	t.Helper()
	var env map[string]string
	p.Allow = []string{"x"}
	p.Runner = runs(func(_ context.Context, c command.Command) (command.Exit, error) {
		env = c.Env
		if env["HOME"] != c.Home || env["TMPDIR"] != c.Temp {
			if _, own := p.Env["HOME"]; !own {
				t.Errorf("HOME is %s of %s, TMPDIR is %s of %s", env["HOME"], c.Home, env["TMPDIR"], c.Temp)
			}
		}
		return command.Exit{}, nil
	})
	c.Words = []string{"x"}
	if _, err := p.Run(context.WithValue(t.Context(), key{}, "00-1-2"), c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TMPDIR", "TEMP", "TMP", "USERPROFILE", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT",
		"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"} {
		delete(env, name)
	}
	return env
}

func TestEnvironment(t *testing.T) {
	root := t.TempDir()
	list := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	bin, more := filepath.Join(root, "bin"), filepath.Join(root, "more")
	t.Setenv("PATH", list(bin, ".", "", "rel/ative", more))
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("MINE", "host's")
	t.Setenv("YOURS", "host's")
	t.Setenv("MILLRACE_SHARED", "/other")
	t.Setenv("LD_PRELOAD", "")
	for _, tt := range []struct {
		name   string
		policy command.Policy
		step   map[string]string
		c      command.Command
		want   map[string]string // in addition to PATH, LANG and HOME
	}{
		{name: "nothing else of the host", want: map[string]string{}},
		{name: "what is passed", policy: command.Policy{PassEnv: []string{"MINE", "NOT_THERE"}}, want: map[string]string{"MINE": "host's"}},
		{
			name: "what comes later wins",
			policy: command.Policy{
				PassEnv: []string{"MINE", "YOURS", "LANG"}, Env: map[string]string{"MINE": "policy's", "A": "1", "B": "1", "C": "1"},
				EnvFor:  func(context.Context) map[string]string { return map[string]string{"A": "0", "YOURS": "0"} },
				Secrets: map[string]string{"B": "secret"}, StepEnv: []string{"C", "D", "E"},
			},
			step: map[string]string{"C": "step's", "D": "step's"},
			want: map[string]string{"MINE": "policy's", "YOURS": "0", "A": "1", "B": "secret", "C": "step's", "D": "step's"},
		},
		{
			name: "of the tree", c: command.Command{Root: root, Shared: more},
			want: map[string]string{"GIT_CEILING_DIRECTORIES": filepath.Dir(root), "MILLRACE_SHARED": more},
		},
		{
			name: "the policy's own home", policy: command.Policy{Env: map[string]string{"HOME": "/h", "GIT_CEILING_DIRECTORIES": "/c", "LANG": "x"}},
			c: command.Command{Root: root}, want: map[string]string{"HOME": "/h", "GIT_CEILING_DIRECTORIES": "/c", "LANG": "x"},
		},
		{
			name: "the policy's own path", policy: command.Policy{Env: map[string]string{"PATH": list(".", more)}},
			want: map[string]string{"PATH": more},
		},
		{
			name:   "a context's",
			policy: command.Policy{EnvFor: func(ctx context.Context) map[string]string { return map[string]string{"T": ctx.Value(key{}).(string)} }},
			want:   map[string]string{"T": "00-1-2"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.MkdirAll(more, 0o700); err != nil {
				t.Fatal(err)
			}
			tt.c.Env = tt.step
			p := tt.policy
			p.Scratch = t.TempDir()
			got := given(t, p, tt.c)
			want := map[string]string{"PATH": list(bin, more), "LANG": "C.UTF-8"}
			if _, own := p.Env["HOME"]; !own {
				delete(got, "HOME")
			}
			maps.Copy(want, tt.want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

type key struct{}

// TestRealEnvironment: a command in a process of this system has the same environment, and the cookie.
func TestRealEnvironment(t *testing.T) {
	t.Setenv("LANG", "C")
	t.Setenv("PATH", os.Getenv("PATH")+string(filepath.ListSeparator)+".")
	p := acting(t)
	p.Env = map[string]string{"LINES": "a\nb=c", "EMPTY": ""}
	exit := run(t, p, an(t, "env"))
	var names []string
	for line := range strings.Lines(exit.Stdout.Text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		names = append(names, name)
		switch {
		case name == "PATH" && slices.Contains(filepath.SplitList(value), "."):
			t.Errorf("PATH is %s", value)
		case name == "MILLRACE_EXEC" && len(value) < 20:
			t.Errorf("%s is short", value)
		case (name == "HOME" || name == "TMPDIR") && !strings.HasPrefix(value, p.Scratch):
			t.Errorf("%s is %s", name, value)
		case name == "HOME" || name == "TMPDIR":
			if _, err := os.Stat(value); err == nil {
				t.Errorf("%s is still there", value)
			}
		}
	}
	if runtime.GOOS == "windows" {
		return // the system's own variables vary
	}
	want := []string{"EMPTY", "HOME", "LANG", "LINES", "b", "MILLRACE_EXEC", "PATH", "TMPDIR"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestStepEnv: a variable that a step may not set is refused by name, with advice.
func TestStepEnv(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, reason, hint string }{
		{"GOOS", "", ""},
		{"OTHER", "a step may not set the environment variable 'OTHER'", "the host adds 'OTHER' to StepEnv, or sets it in Env"},
		{"goos", "a step may not set the environment variable 'goos'", "the host adds 'goos' to StepEnv, or sets it in Env"},
		{"LD_PRELOAD", "a step may not set the environment variable 'LD_PRELOAD', for it decides what runs",
			"leave it out; the host may set it in the Env of the policy"},
		{"DYLD_X", "a step may not set the environment variable 'DYLD_X', for it decides what runs",
			"leave it out; the host may set it in the Env of the policy"},
		{"GIT_DIR", "a step may not set the environment variable 'GIT_DIR', for it decides what runs",
			"leave it out; the host may set it in the Env of the policy"},
		{"PATH", "a step may not set the environment variable 'PATH', for it decides what runs",
			"leave it out; the host may set it in the Env of the policy"},
		{"HOME", "a step may not set the environment variable 'HOME', for it decides what runs",
			"leave it out; the host may set it in the Env of the policy"},
		{"MILLRACE_EXEC", "a step may not set the environment variable 'MILLRACE_EXEC', for it is set by millrace", "leave it out"},
	} {
		if runtime.GOOS == "windows" && tt.name == "goos" {
			continue // there it is GOOS
		}
		p := command.Policy{Allow: []string{"x"}, StepEnv: []string{"GOOS"}, Runner: runs(nil)}
		err := p.Permit(t.Context(), command.Command{Words: []string{"x"}, Env: map[string]string{tt.name: "1"}})
		if tt.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		var denied *command.DeniedError
		if !errors.As(err, &denied) || denied.Command != "x" || denied.Reason != tt.reason || denied.Hint != tt.hint {
			t.Errorf("%s: %#v", tt.name, err)
		}
	}
	for _, env := range []map[string]string{{"": "1"}, {"A=B": "1"}, {"A\x00": "1"}, {"A": "\x00"}} {
		p := command.Policy{Allow: []string{"x"}, StepEnv: []string{"A"}, Runner: runs(nil)}
		if err := p.Permit(t.Context(), command.Command{Words: []string{"x"}, Env: env}); err == nil {
			t.Errorf("%q is taken", env)
		}
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	abs := t.TempDir()
	good := command.Policy{
		Allow: []string{"a *"}, Env: map[string]string{"PATH": "/bin", "LD_LIBRARY_PATH": "/x", "HOME": "/h"}, PassEnv: []string{"HOME"},
		StepEnv: []string{"GOOS"}, Secrets: map[string]string{"TOKEN": ""}, Read: []string{abs}, Write: []string{abs}, Scratch: abs,
		MaxOutput: 1, MaxPrinted: 1, Sandbox: command.Off,
	}
	for _, p := range []command.Policy{{}, good} {
		if err := p.Valid(); err != nil {
			t.Error(err)
		}
	}
	for want, change := range map[string]func(p *command.Policy){
		"command policy: Env has '': it has no name":                                                    func(p *command.Policy) { p.Env = map[string]string{"": "1"} },
		"command policy: Env has 'A=B': its name has a '=' or a NUL byte":                               func(p *command.Policy) { p.Env = map[string]string{"A=B": "1"} },
		"command policy: Secrets has 'A': its value has a NUL byte":                                     func(p *command.Policy) { p.Secrets = map[string]string{"A": "\x00"} },
		"command policy: Secrets has 'PATH': what programs are found in is not a secret: set it in Env": func(p *command.Policy) { p.Secrets = map[string]string{"PATH": "/bin"} },
		"command policy: PassEnv[1] is '': it has no name":                                              func(p *command.Policy) { p.PassEnv = []string{"A", ""} },
		"command policy: StepEnv[0] is 'PATH', which no step may set: it decides what runs":             func(p *command.Policy) { p.StepEnv = []string{"PATH"} },
		"command policy: StepEnv[0] is 'LD_PRELOAD', which no step may set: it decides what runs":       func(p *command.Policy) { p.StepEnv = []string{"LD_PRELOAD"} },
		"command policy: StepEnv[0] is 'MILLRACE_X', which no step may set: it is set by millrace":      func(p *command.Policy) { p.StepEnv = []string{"MILLRACE_X"} },
		"command policy: StepEnv[0] is 'TOKEN', which no step may set: it is the name of a secret":      func(p *command.Policy) { p.StepEnv = []string{"TOKEN"} },
		"command policy: Read[0] 'a/b' is not an absolute path":                                         func(p *command.Policy) { p.Read = []string{"a/b"} },
		"command policy: Write[0] '' is not an absolute path":                                           func(p *command.Policy) { p.Write = []string{""} },
		"command policy: Scratch 'x' is not an absolute path":                                           func(p *command.Policy) { p.Scratch = "x" },
		"command policy: MaxTimeout is negative":                                                        func(p *command.Policy) { p.MaxTimeout = -1 },
		"command policy: MaxScratchBytes is negative":                                                   func(p *command.Policy) { p.MaxScratchBytes = -1 },
		"command policy: Sandbox is 3, which is none of Required, BestEffort and Off":                   func(p *command.Policy) { p.Sandbox = 3 },
	} {
		p := good
		change(&p)
		if err := p.Valid(); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	p := good
	p.EnvFor = func(context.Context) map[string]string { return map[string]string{"PATH": "/"} }
	if err := p.Permit(t.Context(), command.Command{Words: []string{"/bin/sh"}}); err == nil {
		t.Error("EnvFor may set PATH")
	}
}
