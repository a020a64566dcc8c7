// Command durable shows a run that outlives its process: the process is killed in the middle of a step, and another
// process resumes the run after the finished steps. The model is not asked again for recorded answers.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// key signs the records of runs. A program for users has a key that is made for each user instead.
var key = []byte("the 32 bytes of an example's key")

func main() {
	ctx := context.Background()
	var err error
	if len(os.Args) == 2 {
		err = work(ctx, os.Args[1])
	} else {
		err = show(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// show starts a process that is killed, and resumes its run.
func show(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "durable")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, name := range []string{"tree", "store"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tree", "notes.txt"), []byte("to recieve\n"), 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, dir)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if child.Run() == nil {
		return errors.New("the process was to be killed")
	}

	m, store, err := open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	all, err := store.List(ctx, runs.Filter{})
	if err != nil {
		return err
	}
	for _, run := range all.Items {
		fmt.Printf("run %s is %s: %s\n", run.ID, run.Status, run.Reason)
	}
	run, err := m.Resume(ctx, "1")
	if err == nil {
		run, err = m.Wait(ctx, run.Ref())
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "tree", "notes.txt"))
	fmt.Printf("run %s is %s, taken up %d times\nnotes.txt: %s", run.ID, run.Status, run.Attempts, text)
	return err
}

// work creates a run and works on it. The process is killed before the end.
func work(ctx context.Context, dir string) error {
	m, _, err := open(dir)
	if err != nil {
		return err
	}
	p, err := millrace.New("fix").
		Step("ask", actions.Prompt{Prompt: "how is it spelled?", Workspace: "none"}).
		Step("fix", actions.Edit{Files: []string{"notes.txt"}, OldText: "recieve", NewText: "receive"}).
		Step("check", actions.Tool{Tool: "check"}).
		Build()
	if err != nil {
		return err
	}
	run, err := m.Create(ctx, runs.CreateParams{Project: "notes", Pipeline: p})
	if err == nil {
		_, err = m.Wait(ctx, run.Ref())
	}
	return err
}

// open opens the store of runs, which is next to the tree.
func open(dir string) (*rundir.Manager, *rundir.Store, error) {
	root, err := fsutil.OpenRoot(filepath.Join(dir, "store"))
	if err != nil {
		return nil, nil, err
	}
	store, err := rundir.Open(root, "runs", rundir.Options{Key: key, SharedDir: filepath.Join(dir, "shared")})
	if err != nil {
		return nil, nil, err
	}
	model := agent.Func(func(context.Context, *agent.Request) (agent.Reply, error) {
		fmt.Println("the model is asked")
		return agent.Reply{Output: "receive"}, nil
	})
	// The first process is killed in this check.
	check := tool.WithSpec(tool.Func("check", "Checks the spelling.", func(context.Context, struct{}) (string, error) {
		seen := filepath.Join(dir, "seen")
		if _, err := os.Stat(seen); err == nil {
			fmt.Println("the check runs again, and goes well")
			return "well", nil
		}
		fmt.Println("the process is killed in the check")
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = errors.Join(os.WriteFile(seen, nil, 0o600), self.Kill())
		}
		if err == nil {
			select {} // until the process is killed
		}
		return "", err
	}), func(s *tool.Spec) { s.Pure = true })
	tools, err := tool.New(check)
	if err != nil {
		return nil, nil, err
	}
	m, err := store.Manage(rundir.Host{
		Executor: millrace.Executor{State: millrace.State{Key: key}, Tools: tools,
			Agents: map[string]agent.Agent{"": model}},
		Trees: notes{dir},
	})
	return m, store, err
}

// notes opens the only tree.
type notes struct{ dir string }

// Open implements [fleet.Trees].
func (n notes) Open(ctx context.Context, t fleet.Target) (fleet.Tree, error) {
	return fleet.Dirs{}.Open(ctx, fleet.Target{ID: t.ID, Root: filepath.Join(n.dir, "tree")})
}
