package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	commands "github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
)

// execTimes are the times of steps that run commands.
type execTimes struct {
	First   time.Duration   `json:"first_ns"`   // the command that writes the tree to the disk
	Second  time.Duration   `json:"second_ns"`  // median of the commands after it
	Bare    time.Duration   `json:"bare_ns"`    // median without a sandbox
	Sandbox map[string]any  `json:"sandbox"`    // the protection in force
	All     []time.Duration `json:"further_ns"` // the times of which Second is the median
}

// execRuns is the number of commands after the first command of a run.
const execRuns = 9

// execTree is the hidden sub-command that runs true on a tree several times, and prints how long the steps have taken.
func execTree(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: exec DIR SCRATCH")
	}
	root, err := fsutil.OpenRoot(args[0])
	if err != nil {
		return err
	}
	defer root.Close()
	var got execTimes
	for _, sandbox := range []commands.Sandbox{commands.BestEffort, commands.Off} {
		b := millrace.New("exec")
		for i := range 1 + execRuns {
			b = b.Step(fmt.Sprintf("s%d", i), actions.Exec{Command: "true", Discard: true}).Builder
		}
		p, err := b.Build()
		if err != nil {
			return err
		}
		x := millrace.Executor{Commands: commands.Policy{Allow: []string{"true"}, Sandbox: sandbox, Scratch: args[1]}}
		res, err := x.Run(ctx, root, p)
		if err != nil {
			return err
		}
		var all []time.Duration
		for _, s := range res.Results[1:] {
			all = append(all, s.Duration)
		}
		slices.Sort(all)
		if sandbox == commands.Off {
			got.Bare = all[len(all)/2]
			break
		}
		data, ok := res.Results[0].Data.(map[string]any)
		if !ok {
			return errors.New("the step has no data")
		}
		got.First, got.Second, got.All = res.Results[0].Duration, all[len(all)/2], all
		got.Sandbox, _ = data["sandbox"].(map[string]any)
	}
	return json.NewEncoder(stdout).Encode(got)
}
