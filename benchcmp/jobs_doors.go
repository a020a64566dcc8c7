package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// doorJobs are about what the command line takes beside the library.
func doorJobs() []job {
	return []job{{"door/version", []string{"millrace"}, doorVersion}, {"door/replace", []string{"millrace"}, doorReplace}}
}

// doorVersion compares how long the program takes to say its version with a program that imports the library and does
// nothing, which is this one.
func doorVersion(ctx context.Context, b *bench) (Outcome, error) {
	many := *b
	many.runs = b.scale.doorStarts
	ours := command{dir: b.dir, out: b.out("version"), args: []string{b.tools["millrace"].path, "version"}}
	idle := command{dir: b.dir, out: b.out("idle"), args: []string{b.self, "idle"}}
	left, right, err := many.pairs(ctx, b.warm, always(ours), always(idle), nil)
	if err != nil {
		return Outcome{}, err
	}
	took, empty := middle(left).Wall, middle(right).Wall
	return Outcome{Figures: []Figure{{
		What:  "millrace version, over a program that imports the library and ends",
		Value: max(took-empty, time.Microsecond).Seconds() * 1e3, Unit: "ms", Goal: 1,
		Note: fmt.Sprintf("%.1f and %.1f ms, medians of %d", took.Seconds()*1e3, empty.Seconds()*1e3, many.runs),
	}}}, nil
}

// doorReplace compares a one-liner with the same pipeline run by the library: forth in one round and back in the next.
func doorReplace(ctx context.Context, b *bench) (Outcome, error) {
	const name = "door/replace"
	base, err := b.generated(b.scale.doorFiles, 4<<10, 1, true)
	if err != nil {
		return Outcome{}, err
	}
	want, err := digest(base)
	if err != nil {
		return Outcome{}, err
	}
	left, right := b.work("door-left"), b.work("door-right")
	for _, dir := range []string{left, right} {
		if err := copyTree(base, dir); err != nil {
			return Outcome{}, err
		}
	}
	replace := func(round int, flags ...string) command {
		texts := [2][2]string{{needle, thread}, {thread, needle}}[round%2]
		args := []string{b.tools["millrace"].path, "-C", left, "replace", texts[0], texts[1], "--no-project"}
		return command{dir: left, out: b.out(name), args: append(args, flags...)}
	}
	// The library runs the change that the one-liner describes.
	var pipelines [2]string
	for i := range pipelines {
		emit := replace(i, "--force", "--emit", "json")
		if _, err := b.run(ctx, emit); err != nil {
			return Outcome{}, err
		}
		pipelines[i] = b.work(fmt.Sprintf("door-%d.json", i))
		if err := os.Rename(emit.out, pipelines[i]); err != nil {
			return Outcome{}, err
		}
	}
	settle := func(ctx context.Context, _ int) error { return b.settle(ctx) }
	ours := side{prepare: settle, command: func(round int) command { return replace(round, "--force", "-y") }}
	library := side{prepare: settle, command: func(round int) command {
		return b.ours(name+"-library", right, "@"+pipelines[round%2], "-do", "run", "-print", "nothing")
	}}
	leftRuns, rightRuns, err := b.pairs(ctx, b.even(), ours, library, func(round int) error {
		changed, err := digest(right)
		if err == nil && round == 0 && changed.SHA256 == want.SHA256 {
			err = wrong("%s: nothing was changed", name)
		}
		if err != nil {
			return err
		}
		return sameTrees(name, left, changed)
	})
	if err != nil {
		return Outcome{}, err
	}
	const goal = 1.03
	said := fmt.Sprintf("%s files, trees equal", thousands(b.scale.doorFiles))
	return Outcome{Versus: []Versus{versus("millrace: the same pipeline by the library", said, goal, leftRuns,
		rightRuns)}}, nil
}
