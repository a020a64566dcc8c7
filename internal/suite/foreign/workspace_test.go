package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// works returns scripts of a command that works in its copy of the tree. rests are the paths on which the script
// relies: they and all below them must not change.
func works() map[string]struct {
	script string
	rests  []string
} {
	return map[string]struct {
		script string
		rests  []string
	}{
		"edits in place":       {"echo ours >> a", []string{"a"}},
		"edits by a rename":    {"sed 's/text/ours/' a > t && mv t a", []string{"a"}},
		"changes a mode":       {"chmod 755 a", []string{"a"}},
		"removes":              {"rm a", []string{"a"}},
		"renames":              {"mv a m", []string{"a", "m"}},
		"renames over":         {"mv a b", []string{"a", "b"}},
		"swaps":                {"mv a t; mv b a; mv t b", []string{"a", "b"}},
		"copies over":          {"cp a b", []string{"b"}},
		"makes a file":         {"echo ours > n", []string{"n"}},
		"makes directories":    {"mkdir -p n/p; echo ours > n/p/q", []string{"n"}},
		"makes a link":         {"ln -s a n", []string{"n"}},
		"makes a file there":   {"echo ours > d/new", []string{"d/new"}},
		"removes a directory":  {"rm -r d", []string{"d"}},
		"renames a directory":  {"mv d m", []string{"d", "m"}},
		"empties a directory":  {"rm -r d/*", []string{"d/f", "d/s"}},
		"a directory to file":  {"rm -r d; echo ours > d", []string{"d"}},
		"a file to directory":  {"rm a; mkdir a; echo ours > a/i", []string{"a"}},
		"moves out of a place": {"mv d/s/g m; rm -r d", []string{"d", "m"}},
		"only looks":           {"cat a d/f > /dev/null", nil},
	}
}

// others returns the changes that another program makes to the tree.
func others() map[string]func(tree afero.Fs, at string) error {
	write := func(tree afero.Fs, at string) error {
		return errors.Join(tree.MkdirAll(path.Dir(at), 0o755), afero.WriteFile(tree, at, []byte(theirs), 0o644))
	}
	return map[string]func(tree afero.Fs, at string) error{
		"saves": write,
		"saves by a rename": func(tree afero.Fs, at string) error {
			return errors.Join(tree.MkdirAll(path.Dir(at), 0o755), write(tree, "their.tmp"), tree.Rename("their.tmp", at))
		},
		"saves as much": func(tree afero.Fs, at string) error { // the same number of bytes
			old, err := afero.ReadFile(tree, at)
			if err != nil {
				return write(tree, at)
			}
			return afero.WriteFile(tree, at, []byte(strings.ToUpper(string(old))), 0o644)
		},
		"changes the mode": func(tree afero.Fs, at string) error { return tree.Chmod(at, 0o604) },
		"removes":          func(tree afero.Fs, at string) error { return tree.Remove(at) },
	}
}

// workspaceTree returns a tree for a command and another program, on disk or in memory.
func workspaceTree(t *testing.T, inMemory bool) (fsys, theirs afero.Fs) {
	t.Helper()
	files := []string{"a", "text of a\n", "b", "text of b\n", "d/f", "text of f\n", "d/s/g", "text of g\n", "other", "text\n"}
	if inMemory {
		fsys := suite.Tree(files...)
		return fsys, fsys
	}
	dir, root := suite.Rooted(t, files...)
	return root, afero.NewBasePathFs(afero.NewOsFs(), dir)
}

// steps returns the kinds of steps that work on a copy: each runs the script, and calls write before its changes are
// collected.
func steps() map[string]func(x *millrace.Executor, script string, write func()) actions.Action {
	inPlace := func(script string, write func()) agent.Agent {
		return askedFunc(func(ctx context.Context, r *agent.Request) (agent.Reply, error) {
			dir, err := r.Workspace(ctx)
			if err != nil {
				return agent.Reply{}, err
			}
			cmd := exec.CommandContext(ctx, "/bin/sh", "-ec", script)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			write()
			return agent.Reply{Output: string(out)}, err
		})
	}
	return map[string]func(x *millrace.Executor, script string, write func()) actions.Action{
		"exec": func(x *millrace.Executor, script string, write func()) actions.Action {
			x.Observe = func(e millrace.Event) {
				if _, ok := e.(millrace.StepOutput); ok {
					write()
				}
			}
			return actions.Exec{Shell: script + "; echo done"}
		},
		"agent": func(x *millrace.Executor, script string, write func()) actions.Action {
			x.Agents = map[string]agent.Agent{"": inPlace(script, write)}
			return actions.Prompt{Prompt: "work"}
		},
		"program": func(x *millrace.Executor, script string, write func()) actions.Action {
			program := agent.Command{
				Argv: func(*agent.Request) []string { return []string{"sh", "-ec", script} }, Policy: x.Commands,
			}
			x.Agents = map[string]agent.Agent{"": askedFunc(func(ctx context.Context, r *agent.Request) (agent.Reply, error) {
				reply, err := program.Ask(ctx, r)
				write()
				return reply, err
			})}
			return actions.Prompt{Prompt: "work"}
		},
	}
}

type askedFunc func(ctx context.Context, r *agent.Request) (agent.Reply, error)

func (f askedFunc) Ask(ctx context.Context, r *agent.Request) (agent.Reply, error) { return f(ctx, r) }

// ends returns the ways in which the changes of a step get into the tree.
func ends() map[string]func(ctx context.Context, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline) error {
	return map[string]func(ctx context.Context, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline) error{
		"run": func(ctx context.Context, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline) error {
			_, err := x.Run(ctx, fsys, p)
			return err
		},
		"plan": func(ctx context.Context, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline) error {
			plan, err := x.Plan(ctx, fsys, p)
			if err == nil {
				_, err = plan.Commit(ctx)
			}
			return err
		},
		"resumed": func(ctx context.Context, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline) error {
			kept := new(notebook)
			x.Checkpoints = kept
			p = millrace.New("p").Step("work", p.Steps()[0].Action).MaxRetries(0).Step("gate", actions.List{}).Manual().MustBuild()
			_, err := x.Run(ctx, fsys, p)
			held, ok := errors.AsType[*millrace.HeldError](err)
			if !ok {
				return fmt.Errorf("the run is not held: %w", err)
			}
			held.Plan.Close()
			x.Observe = nil
			_, err = x.Resume(ctx, fsys, p, kept.saved())
			return err
		},
		"fleet": func(ctx context.Context, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline) error {
			local := fleet.Local{Worker: fleet.Worker{Executor: x, Trees: oneTree{fsys}, Retries: -1}, Parallel: 1}
			f := fleet.Fleet{Scheduler: local}
			if x.Observe != nil {
				f.Observe = func(e millrace.Event) {
					if of, ok := e.(fleet.Event); ok {
						x.Observe(of.Event)
					}
				}
			}
			targets := func(yield func(fleet.Target, error) bool) { yield(fleet.Target{ID: "one"}, nil) }
			var failed error
			_, err := f.Run(ctx, fleet.Campaign{ID: "c", Pipeline: p}, targets, func(o fleet.Outcome) error {
				if o.Code == "conflict" {
					failed = &millrace.ConflictError{Err: errors.New(o.Message)}
				} else if o.Code != "" {
					failed = errors.New(o.Message)
				}
				return nil
			})
			return errors.Join(err, failed)
		},
	}
}

type oneTree struct{ fsys afero.Fs }

func (o oneTree) Open(context.Context, fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{FS: o.fsys}, nil
}

// overtake lets a step work on the tree while the other program changes it. It returns the tree after the other
// program's change, the tree after the run, and the error of the run.
func overtake(
	t *testing.T, inMemory bool, kind, end, script string, other func(tree afero.Fs) error, change func(x *millrace.Executor),
) (between, after map[string]string, err error) {
	t.Helper()
	fsys, tree := workspaceTree(t, inMemory)
	x := millrace.Executor{State: millrace.State{NoSync: true}, Commands: command.Policy{
		Allow: []string{"*"}, Shell: true, Sandbox: command.BestEffort, Scratch: t.TempDir(),
	}}
	if change != nil {
		change(&x)
	}
	var once sync.Once
	step := steps()[kind](&x, script, func() {
		once.Do(func() {
			if err := other(tree); err != nil {
				t.Errorf("the other program: %v", err)
			}
			between = statesOf(t, tree)
		})
	})
	p := millrace.New("p").Step("work", step).MaxRetries(0).MustBuild()
	err = ends()[end](t.Context(), x, fsys, p)
	return between, statesOf(t, tree), err
}

// statesOf returns the state of each path of a tree, without directories and the state directory.
func statesOf(t *testing.T, tree afero.Fs) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := afero.Walk(tree, "", func(name string, info fs.FileInfo, err error) error {
		switch {
		case strings.HasPrefix(path.Base(name), ".millrace"): // files of the run, whose locks come and go
			if err == nil && info.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil:
			return err
		case info.IsDir():
			return nil
		case info.Mode()&fs.ModeSymlink != 0:
			all[name] = "a link"
			return nil
		}
		data, err := afero.ReadFile(tree, name)
		all[strings.TrimPrefix(name, "/")] = fmt.Sprintf("%v %s", info.Mode().Perm(), data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// TestForeign_workspace lets another program change the tree while a command or an agent works on a copy of it. If both
// have changed a file, the run is a conflict and writes nothing. If only one has changed it, the tree has that change.
func TestForeign_workspace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands need Unix")
	}
	works, others := works(), others()
	places := []string{"a", "b", "d/f", "d/s/g", "d/new", "d/s/new", "n", "n/other", "m"}
	part := fstest.Runs(11, 1, 1)
	for i, kind := range slices.Sorted(maps.Keys(steps())) {
		for j, work := range slices.Sorted(maps.Keys(works)) {
			t.Run(kind+"/"+work, func(t *testing.T) {
				t.Parallel()
				n := 4*i + 3*j
				ends := slices.Sorted(maps.Keys(ends()))
				for _, other := range slices.Sorted(maps.Keys(others)) {
					for _, at := range places {
						isThere := slices.Contains([]string{"a", "b", "d/f", "d/s/g"}, at)
						if n++; n%part != 0 || !isThere && !strings.HasPrefix(other, "saves") {
							continue
						}
						inMemory, end := n/part%2 == 0 && work != "makes a link", ends[n/part/2%len(ends)]
						w := works[work]
						between, after, err := overtake(t, inMemory, kind, end, w.script, func(tree afero.Fs) error {
							return others[other](tree, at)
						}, func(x *millrace.Executor) { x.Commands.KeepScratch = n/part%3 == 0 })
						what := fmt.Sprintf("the other %s %s (in memory: %v, %s)", other, at, inMemory, end)
						both := slices.ContainsFunc(w.rests, func(name string) bool { return at == name || strings.HasPrefix(at, name+"/") })
						switch {
						case both && !suite.Is[*millrace.ConflictError](err):
							t.Errorf("%s: the run returns %v, want a conflict", what, err)
						case both:
							if d := cmp.Diff(between, after); d != "" {
								t.Errorf("%s: a conflict has changed the tree (-before +after):\n%s", what, d)
							}
						case err != nil:
							t.Errorf("%s: %v", what, err)
						}
						if between[at] != after[at] {
							t.Errorf("%s: before %q, now %q; the run returns %v", what, between[at], after[at], err)
						}
					}
				}
			})
		}
	}
}
