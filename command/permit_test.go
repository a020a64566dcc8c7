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
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/errorform"
)

// write creates an executable file.
func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	failed := errors.New("not on a Friday")
	for _, tt := range []struct {
		name   string
		policy command.Policy
		c      command.Command
		want   command.DeniedError
		text   string
	}{
		{
			"the zero policy", command.Policy{}, command.Command{Words: []string{"curl", "-s"}},
			command.DeniedError{Command: "curl", Hint: "the host allows no programs: it names them in the Allow of its policy"},
			"the host does not allow the command 'curl'",
		},
		{
			"another program", command.Policy{Allow: []string{"gofmt -l *", "go vet *"}}, command.Command{Words: []string{"curl"}},
			command.DeniedError{Command: "curl", Hint: "the host allows: gofmt -l * | go vet *"},
			"the host does not allow the command 'curl'",
		},
		{
			"other arguments", command.Policy{Allow: []string{"gofmt -l *"}}, command.Command{Words: []string{"gofmt", "-w", "a b"}},
			command.DeniedError{Command: "gofmt -w 'a b'", Reason: "not with these arguments", Hint: "the host allows: gofmt -l *"},
			"the host does not allow the command 'gofmt -w 'a b'': not with these arguments",
		},
		{
			"a shell", command.Policy{Allow: []string{"* *", "/bin/sh *"}}, script("ls"),
			command.DeniedError{Command: "/bin/sh", Reason: "it allows no shells",
				Hint: "the host sets Shell, which lets a pipeline run everything; or give a program as command, and its arguments"},
			"the host does not allow the command '/bin/sh': it allows no shells",
		},
		{
			"no such program", command.Policy{Allow: []string{"there-is-none *"}, Sandbox: command.Off}, command.Command{Words: []string{"there-is-none"}},
			command.DeniedError{Command: "there-is-none", Reason: "there is no such program in its PATH",
				Hint: "install it on the host, or set PATH in the Env of the policy"},
			"the host does not allow the command 'there-is-none': there is no such program in its PATH",
		},
		{
			"a path", command.Policy{Allow: []string{"* *", "./* *"}}, command.Command{Words: []string{"bin/x"}},
			command.DeniedError{Command: "bin/x",
				Reason: "the program 'bin/x' is neither a name nor an absolute path; a file of the tree is written ./bin/x"},
			"the host does not allow the command 'bin/x': the program 'bin/x' is neither a name nor an absolute path; " +
				"a file of the tree is written ./bin/x",
		},
		{
			"the host's check", command.Policy{Allow: []string{"x *"}, Runner: runs(nil),
				Check: func(context.Context, command.Command) error { return failed }}, command.Command{Words: []string{"x", "y"}},
			command.DeniedError{Command: "x y", Reason: "not on a Friday", Err: failed},
			"the host does not allow the command 'x y': not on a Friday",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, err := range []error{tt.policy.Permit(t.Context(), tt.c), func() error { _, err := tt.policy.Run(t.Context(), tt.c); return err }()} {
				var denied *command.DeniedError
				if !errors.As(err, &denied) {
					t.Fatalf("%v", err)
				}
				if diff := cmp.Diff(tt.want, *denied, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if err.Error() != tt.text || denied.Code() != "exec_denied" || denied.Retryable() {
					t.Errorf("%v\nwant %s", err, tt.text)
				}
			}
		})
	}
	var denied *command.DeniedError
	p := command.Policy{Allow: []string{"x"}, Runner: runs(nil), Check: func(context.Context, command.Command) error { panic("at night") }}
	if err := p.Permit(t.Context(), command.Command{Words: []string{"x"}}); !errors.As(err, &denied) || denied.Reason != "panic: at night" {
		t.Errorf("a panic came as %v", err)
	}
	for _, c := range []command.Command{{}, {Words: []string{""}}, {Words: []string{"x", "\x00"}}, {Words: []string{"x"}, Shell: true}} {
		if err := elsewhere(nil).Permit(t.Context(), c); err == nil || errors.As(err, &denied) {
			t.Errorf("%q: %v", c.Words, err)
		}
	}
}

// TestLongRefusals: a message stays short, for any length of a pipeline or a policy.
func TestLongRefusals(t *testing.T) {
	t.Parallel()
	p := command.Policy{Runner: runs(nil), Allow: slices.Repeat([]string{"x " + strings.Repeat("y", 20)}, 15)}
	err := p.Permit(t.Context(), command.Command{Words: append([]string{"x"}, strings.Repeat("é", 500))})
	denied, ok := errors.AsType[*command.DeniedError](err)
	if !ok || len(denied.Command) > 210 || !utf8.ValidString(denied.Command) || !strings.HasSuffix(denied.Hint, " and 5 more") {
		t.Errorf("%#v", err)
	}
	for sandbox, want := range map[command.Sandbox]string{command.Required: "required", command.BestEffort: "best effort", command.Off: "off", 9: "unknown"} {
		if sandbox.String() != want {
			t.Errorf("%d is %s, want %s", sandbox, sandbox, want)
		}
	}
}

// TestCheckSeesAll: the host's Check receives the whole command, and cannot change it.
func TestCheckSeesAll(t *testing.T) {
	t.Parallel()
	p := acting(t)
	p.Env, p.Secrets, p.StepEnv = map[string]string{"A": "1"}, map[string]string{"B": "2"}, []string{"C"}
	p.Read, p.Network, p.MaxOutput = []string{t.TempDir()}, true, 10
	c := an(t, "echo", "as it was")
	c.Step, c.Env, c.Stdin, c.Root = "s", map[string]string{"C": "3"}, "in", t.TempDir()
	var got command.Command
	p.Check = func(_ context.Context, c command.Command) error {
		got = c
		got.Words, got.Env = slices.Clone(c.Words), maps.Clone(c.Env)
		c.Words[3], c.Env["A"] = "changed", "changed"
		return nil
	}
	if exit := run(t, p, c); exit.Stdout.Text != "as it was\n" {
		t.Errorf("%q was run", exit.Stdout.Text)
	}
	if got.Step != "s" || got.Stdin != "in" || got.Words[3] != "as it was" || got.Dir != c.Root || got.Temp == "" || got.Home == "" ||
		!got.Network || len(got.Read) != 1 || got.MaxOutput != 10 {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string]string{"A": "1", "B": "2", "C": "3", "HOME": got.Home, "TMPDIR": got.Temp} {
		if got.Env[name] != want {
			t.Errorf("%s is %q, want %q", name, got.Env[name], want)
		}
	}
}

// TestPrograms: the program that runs is the program in the policy's PATH, or in the tree, and no other.
func TestPrograms(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("scripts are not programs there")
	}
	top := t.TempDir()
	root, bin, other := filepath.Join(top, "tree"), filepath.Join(top, "bin"), filepath.Join(top, "other")
	for _, place := range []string{"tree/tool", "tree/sub/tool", "bin/tool", "other/tool", "other/more"} {
		write(t, filepath.Join(top, place), "#!/bin/sh\necho "+place+"\n")
	}
	if err := os.Symlink(filepath.Join(other, "more"), filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("tool", filepath.Join(root, "in")); err != nil {
		t.Fatal(err)
	}
	p := command.Policy{
		Allow: []string{"tool *", "./tool", "./*/tool", "./out", "./in", "./none", filepath.Join(other, "more")}, Sandbox: command.Off,
		Scratch: top, StepEnv: []string{"X"},
		Env: map[string]string{"PATH": strings.Join([]string{".", "", "sub", bin, other, "/usr/bin", "/bin"}, ":")},
	}
	for _, tt := range []struct {
		program, dir, want, err string
	}{
		{"tool", "", "bin/tool", ""},
		{"tool", "sub", "bin/tool", ""},
		{filepath.Join(bin, "tool"), "", "bin/tool", ""},
		{"./tool", "", "tree/tool", ""},
		{"./tool", "sub", "tree/tool", ""},
		{"./sub/tool", "", "tree/sub/tool", ""},
		{"./in", "", "tree/tool", ""},
		{filepath.Join(other, "more"), "", "other/more", ""},
		{filepath.Join(other, "tool"), "", "", "the host does not allow the command '" + filepath.Join(other, "tool") + "'"},
		{"more", "", "", "the host does not allow the command 'more'"},
		{"./out", "", "", "the host does not allow the command './out': it is a link that leads out of the tree"},
		{"./none", "", "", "the program './none' of the tree cannot be run: no such file or directory"},
	} {
		exit, err := p.Run(t.Context(), command.Command{Words: []string{tt.program}, Root: root, Dir: filepath.Join(root, tt.dir)})
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: %v\nwant %s", tt.program, err, tt.err)
			}
			continue
		}
		if err != nil || exit.Stdout.Text != tt.want+"\n" {
			t.Errorf("%s in %q ran %q, %v; want %s", tt.program, tt.dir, exit.Stdout.Text, err, tt.want)
		}
	}
}

// TestUnstarted: the error states the problem of the file, without its place in this run.
func TestUnstarted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("what can be executed is decided by names there")
	}
	root := t.TempDir()
	write(t, filepath.Join(root, "plain"), "echo hello\n")
	write(t, filepath.Join(root, "lost"), "#!/there/is/none\n")
	write(t, filepath.Join(root, "off"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(root, "off"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := acting(t)
	p.Allow = []string{"./*"}
	for name, want := range map[string]string{
		"./plain": "exec format error: a script has to begin with #! and what runs it",
		"./lost":  "no such file or directory",
		"./off":   "permission denied",
	} {
		want = "the command '" + name + "' cannot be started: " + want
		if _, err := p.Run(t.Context(), command.Command{Words: []string{name}, Root: root}); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("/bin/sh is missing")
	}
	root, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "sub", "file"), "")
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	p := acting(t)
	for _, tt := range []struct{ root, dir, want, err string }{
		{root, "", root, ""},
		{root, root, root, ""},
		{root, filepath.Join(root, "sub"), filepath.Join(root, "sub"), ""},
		{root, outside, "", "the directory to start in is not in the tree"},
		{root, filepath.Join(root, "link"), "", "the directory to start in is not in the tree"},
		{root, filepath.Join(root, "sub", "file"), "", "the directory to start in is a file"},
		{root, filepath.Join(root, "none"), "", "the directory to start in cannot be used: no such file or directory"},
		{"sub", "", "", "the directory 'sub' of a command is not an absolute path"},
	} {
		c := script("pwd -P")
		c.Root, c.Dir = tt.root, tt.dir
		exit, err := p.Run(t.Context(), c)
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		want, _ := filepath.EvalSymlinks(tt.want)
		if err != nil || exit.Stdout.Text != want+"\n" {
			t.Errorf("%+v: %q, %v", tt, exit.Stdout.Text, err)
		}
	}
	// Without a tree it runs in a temporary directory, which is removed with everything that the command has created.
	exit := run(t, p, script(`pwd; mkdir -p "$HOME/a/b" "$TMPDIR/c"; echo x > "$HOME/a/b/f"; chmod 0 "$HOME/a/b"; chmod 500 "$HOME/a"; chmod 0 "$TMPDIR/c"`))
	if !strings.HasPrefix(exit.Stdout.Text, p.Scratch) || exit.Code != 0 {
		t.Errorf("%+v", exit)
	}
	if left, err := os.ReadDir(p.Scratch); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestRunner: the output of a Runner is limited and masked, and its faults are errors.
func TestRunner(t *testing.T) {
	t.Parallel()
	const secret = "S3CR3T-VALUE"
	told := ""
	p := elsewhere(func(_ context.Context, c command.Command) (command.Exit, error) {
		for _, piece := range []string{"S3CR3T", "-VALUE\xff", "end"} {
			c.OnOutput("stdout", piece)
		}
		return command.Exit{Code: 3, Signal: secret, Stdout: command.Output{Text: secret + strings.Repeat("x", 2<<20), Size: 9 << 20},
			Stderr: command.Output{Text: "\xff", Truncated: true}, Sandbox: map[string]string{"files": secret}}, nil
	})
	p.Secrets = map[string]string{"S": secret}
	exit, err := p.Run(t.Context(), command.Command{Words: []string{"x"}, OnOutput: func(stream, text string) { told += stream + " " + text + ";" }})
	if err != nil {
		t.Fatal(err)
	}
	if told != "stdout ***\uFFFD;stdout end;" && told != "stdout ***;stdout \uFFFD;stdout end;" {
		t.Errorf("told %q", told)
	}
	if !strings.HasPrefix(exit.Stdout.Text, "***xx") || len(exit.Stdout.Text) != 1<<20 || !exit.Stdout.Truncated || exit.Stdout.Size != 9<<20 {
		t.Errorf("%.20q, %d bytes, %v", exit.Stdout.Text, len(exit.Stdout.Text), exit.Stdout.Truncated)
	}
	exit.Stdout = command.Output{}
	want := command.Exit{Code: 3, Signal: "***", Stderr: command.Output{Text: "\uFFFD", Size: 1, Truncated: true}, Sandbox: map[string]string{"files": "***"}}
	if diff := cmp.Diff(want, exit); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	p = elsewhere(panicking("out of cheese"))
	if _, err := p.Run(t.Context(), command.Command{Words: []string{"x"}}); err == nil ||
		err.Error() != "the host's command runner failed: panic: out of cheese" {
		t.Errorf("a panic came as %v", err)
	}
	p = elsewhere(func(ctx context.Context, c command.Command) (command.Exit, error) {
		for ctx.Err() == nil {
			c.OnOutput("stderr", strings.Repeat("x", 1000))
		}
		return command.Exit{Stderr: command.Output{Text: "so far"}}, ctx.Err()
	})
	p.MaxPrinted = 10_000
	exit, err = p.Run(t.Context(), command.Command{Words: []string{"x"}})
	if errorform.Code(err) != "limit" || exit.Stderr.Text != "so far" {
		t.Errorf("the endless command failed with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p = elsewhere(func(ctx context.Context, c command.Command) (command.Exit, error) {
		cancel()
		<-ctx.Done()
		return command.Exit{Code: 1}, errors.New("interrupted")
	})
	if exit, err := p.Run(ctx, command.Command{Words: []string{"x"}}); !errors.Is(err, context.Canceled) || exit.Code != 1 {
		t.Errorf("a context's end came as %v", err)
	}
	// Later output of a Runner is ignored.
	var late func(string, string)
	p = elsewhere(func(_ context.Context, c command.Command) (command.Exit, error) {
		late = c.OnOutput
		return command.Exit{}, nil
	})
	heard := false
	run(t, p, command.Command{Words: []string{"x"}, OnOutput: func(string, string) { heard = true }})
	late("stdout", "too late")
	if heard {
		t.Error("OnOutput is called when Run has returned")
	}
}

// TestAtOnce: many goroutines use one policy.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	p := acting(t)
	p.Secrets = map[string]string{"S": "secret-value"}
	c := an(t, "echo", "a", "secret-value")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			exit, err := p.Run(t.Context(), c)
			if err != nil || exit.Stdout.Text != "a|***\n" {
				t.Errorf("%+v, %v", exit, err)
			}
		})
	}
	wg.Wait()
	if left, err := os.ReadDir(p.Scratch); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
