// Command approve shows a change that waits for a person: a process computes the change and ends, and another process
// shows the change and approves it. Either exactly the change that was shown is written, or nothing.
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
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// key signs the records of runs. A program for users has a key that is made for each user instead.
var key = []byte("the 32 bytes of an example's key")

func main() {
	ctx := context.Background()
	var err error
	if len(os.Args) == 2 {
		err = propose(ctx, os.Args[1])
	} else {
		err = approve(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// propose creates a run and works on it until it waits.
func propose(ctx context.Context, dir string) (err error) {
	m, _, err := open(dir, "ann")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	p, err := millrace.New("limits").
		Step("raise", actions.Edit{Files: []string{"limits.txt"}, OldText: "10", NewText: "100"}).
		Build()
	if err != nil {
		return err
	}
	run, err := m.Create(ctx, runs.CreateParams{Project: "limits", Pipeline: p})
	if err == nil {
		run, err = m.Wait(ctx, run.Ref())
	}
	if err != nil {
		return err
	}
	fmt.Printf("%s: run %s is %s: %s\n", run.User, run.ID, run.Status, run.Reason)
	return nil
}

// approve lets another process propose a change, shows it, and plays it.
func approve(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "approve")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, name := range []string{"tree", "store"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	file := filepath.Join(dir, "tree", "limits.txt")
	if err := os.WriteFile(file, []byte("users 10\n"), 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	proposer := exec.Command(self, dir)
	proposer.Stdout, proposer.Stderr = os.Stdout, os.Stderr
	if err := proposer.Run(); err != nil {
		return err
	}

	m, store, err := open(dir, "bob")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	waiting, err := store.List(ctx, runs.Filter{Status: runs.Manual})
	if err != nil {
		return err
	}
	for _, run := range waiting.Items {
		plan, err := m.Held(ctx, run.Ref())
		if err != nil {
			return err
		}
		fmt.Print(plan.Diff())
		if err := plan.Close(); err != nil {
			return err
		}
		// The digest identifies the change that was shown. If the commit would now write anything else, the run would
		// wait again.
		held := runs.JobRef{Project: run.Project, ID: run.Held.JobID}
		if _, err := m.Jobs().Play(ctx, held, runs.PlayParams{PlanDigest: run.Held.PlanDigest}); err != nil {
			return err
		}
		if run, err = m.Wait(ctx, run.Ref()); err != nil {
			return err
		}
		fmt.Printf("bob: run %s is %s\n", run.ID, run.Status)
		// The job cannot be played twice.
		_, err = m.Jobs().Play(ctx, held, runs.PlayParams{})
		fmt.Println(err)
	}
	text, err := os.ReadFile(file)
	fmt.Printf("limits.txt: %s", text)
	return err
}

// open opens the store of runs, which is next to the tree.
func open(dir, user string) (*rundir.Manager, *rundir.Store, error) {
	root, err := fsutil.OpenRoot(filepath.Join(dir, "store"))
	if err != nil {
		return nil, nil, err
	}
	store, err := rundir.Open(root, "runs", rundir.Options{Key: key, SharedDir: filepath.Join(dir, "shared")})
	if err != nil {
		return nil, nil, err
	}
	m, err := store.Manage(rundir.Host{
		Executor: millrace.Executor{State: millrace.State{Key: key}}, Trees: limits{dir}, User: user,
		ApproveFrom: risk.Low,
	})
	return m, store, err
}

// limits opens the only tree.
type limits struct{ dir string }

// Open implements [fleet.Trees].
func (l limits) Open(ctx context.Context, t fleet.Target) (fleet.Tree, error) {
	return fleet.Dirs{}.Open(ctx, fleet.Target{ID: t.ID, Root: filepath.Join(l.dir, "tree")})
}
