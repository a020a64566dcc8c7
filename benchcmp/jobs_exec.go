package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"
)

// execJobs measure the cost of running a command on a tree: to make it real, to renew it, and to confine the
// command.
func execJobs() []job {
	return []job{{"exec/true", nil, execTrue}}
}

// execTrue runs true, which does nothing, several times in one run.
func execTrue(ctx context.Context, b *bench) (Outcome, error) {
	if runtime.GOOS == "windows" {
		return Outcome{}, fmt.Errorf("%s has no program true", runtime.GOOS)
	}
	var out Outcome
	for i, files := range b.scale.execFiles {
		dir, err := b.generated(files, 1<<10, 1, false)
		if err != nil {
			return Outcome{}, err
		}
		got, err := b.commandTimes(ctx, dir)
		if err != nil {
			return Outcome{}, err
		}
		first, further := 50*time.Millisecond, 15*time.Millisecond
		if i > 0 {
			first, further = 900*time.Millisecond, 250*time.Millisecond
		}
		on := thousands(files) + " files"
		out.Figures = append(out.Figures,
			Figure{What: "first command of a run on " + on, Value: got.First.Seconds() * 1e3, Unit: "ms",
				Goal: first.Seconds() * 1e3, Note: "the tree is copied"},
			Figure{What: "each further command on " + on, Value: got.Second.Seconds() * 1e3, Unit: "ms",
				Goal: further.Seconds() * 1e3,
				Note: fmt.Sprintf("median of %d", len(got.All))})
	}
	dir, err := b.generated(1, 1<<10, 1, false)
	if err != nil {
		return Outcome{}, err
	}
	got, err := b.commandTimes(ctx, dir)
	if err != nil {
		return Outcome{}, err
	}
	if len(got.Sandbox) > 0 {
		took := max(got.Second-got.Bare, time.Microsecond)
		out.Figures = append(out.Figures, Figure{
			What: "what the sandbox adds to a command", Value: took.Seconds() * 1e3, Unit: "ms", Goal: 1,
			Note: fmt.Sprintf("%v in it, %v without; %v", got.Second, got.Bare, got.Sandbox),
		})
	}
	return out, nil
}

// commandTimes runs the hidden sub-command exec in a process of its own, and reads its output. The scratch trees go
// with the other copies at the end: where many files were deleted a moment ago, ext4 is slow to make new ones, and a
// program that runs its first command has deleted none.
func (b *bench) commandTimes(ctx context.Context, dir string) (got execTimes, err error) {
	scratch, err := os.MkdirTemp(b.work(""), "exec-")
	if err != nil {
		return got, err
	}
	c := command{dir: b.dir, out: b.out("exec"), args: []string{b.self, "exec", dir, scratch}}
	if _, err = b.run(ctx, c); err != nil {
		return got, err
	}
	data, err := os.ReadFile(c.out)
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(data, &got)
}
