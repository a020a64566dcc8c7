package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// doorJobs measure the cost of the command line on top of the library.
func doorJobs() []job {
	needs := []string{"millrace"}
	return []job{{"door/version", needs, doorVersion}, {"door/replace", needs, doorReplace},
		{"door/exec", needs, doorExec}, {"door/runs", needs, doorRuns}}
}

// doorExec compares a program that changes one file with the same program on a copy of the tree.
func doorExec(ctx context.Context, b *bench) (out Outcome, err error) {
	if runtime.GOOS == "windows" {
		return out, fmt.Errorf("%s has no program sed", runtime.GOOS)
	}
	for i, files := range b.scale.execFiles {
		dir, err := b.generated(files, 1<<10, 1, false)
		if err != nil {
			return out, err
		}
		few := *b
		few.runs = min(b.runs, 5)
		file := b.work("door-exec.txt")
		change := func(round int) []string {
			texts := [2][2]string{{needle, thread}, {thread, needle}}[round%2]
			return []string{"sed", "-i", "s/" + texts[0] + "/" + texts[1] + "/", file}
		}
		if err := os.WriteFile(file, []byte(needle+"\n"), 0o644); err != nil {
			return out, err
		}
		const inside = "door-exec.txt"
		if err := os.WriteFile(filepath.Join(dir, inside), []byte(needle+"\n"), 0o644); err != nil {
			return out, err
		}
		ours := side{prepare: func(ctx context.Context, _ int) error { return b.settle(ctx) },
			command: func(round int) command {
				words := change(round)
				words[len(words)-1] = inside
				args := []string{b.tools["millrace"].path, "-C", dir, "exec", "--no-project", "--no-backup", "-y", "--"}
				return command{dir: dir, out: b.out("exec"), args: append(args, words...)}
			}}
		bare := side{command: func(round int) command {
			return command{dir: b.dir, out: b.out("bare"), args: change(round)}
		}}
		left, right, err := few.pairs(ctx, b.even(), ours, bare, nil)
		if err = errors.Join(err, os.Remove(filepath.Join(dir, inside))); err != nil {
			return out, err
		}
		goal := 100.0
		if i > 0 {
			goal = 1000
		}
		took, alone := middle(left), middle(right)
		out.Figures = append(out.Figures, Figure{
			What:  "millrace exec of a program on " + thousands(files) + " files, over the program alone",
			Value: max(took.Wall-alone.Wall, time.Microsecond).Seconds() * 1e3, Unit: "ms", Goal: goal,
			Note: fmt.Sprintf("%d ms of the processor; the tree is copied", took.CPU.Milliseconds()),
		})
	}
	return out, nil
}

// doorRuns compares the list of the newest runs of a store with the version of the program.
func doorRuns(ctx context.Context, b *bench) (out Outcome, err error) {
	if _, err := b.runTimes(ctx, "kept", b.scale.listRuns); err != nil {
		return out, err
	}
	stores, err := filepath.Glob(b.work("runs-*/runs-*/index"))
	if err != nil || len(stores) == 0 {
		return out, errors.Join(err, wrong("there is no store"))
	}
	tree := b.work("door-runs")
	if err := os.MkdirAll(filepath.Join(tree, ".git"), 0o755); err != nil {
		return out, err
	}
	tool := b.tools["millrace"].path
	list := command{dir: tree, out: b.out("list"),
		args: []string{tool, "runs", "--store", filepath.Dir(stores[len(stores)-1])}}
	start := command{dir: tree, out: b.out("start"), args: []string{tool, "version"}}
	left, right, err := b.pairs(ctx, b.warm, always(list), always(start), nil)
	if err != nil {
		return out, err
	}
	if data, err := os.ReadFile(list.out); err != nil || bytes.Count(data, []byte("\n")) != 20 {
		return out, errors.Join(err, wrong("millrace runs has not listed 20 runs: %s", data))
	}
	took, empty := middle(left), middle(right)
	return Outcome{Figures: []Figure{{
		What:  fmt.Sprintf("millrace runs in a store of %s runs, over its version", thousands(b.scale.listRuns)),
		Value: max(took.Wall-empty.Wall, time.Microsecond).Seconds() * 1e3, Unit: "ms", Goal: 50,
		Note: fmt.Sprintf("%d ms of the processor", took.CPU.Milliseconds()),
	}}}, nil
}

// doorVersion measures the size of the program. It compares the time in which the program prints its version with the
// time of a program that imports the library and does nothing, which is this program.
func doorVersion(ctx context.Context, b *bench) (Outcome, error) {
	many := *b
	many.runs = b.scale.doorStarts
	ours := command{dir: b.dir, out: b.out("version"), args: []string{b.tools["millrace"].path, "version"}}
	idle := command{dir: b.dir, out: b.out("idle"), args: []string{b.self, "idle"}}
	left, right, err := many.pairs(ctx, b.warm, always(ours), always(idle), nil)
	if err != nil {
		return Outcome{}, err
	}
	file, err := os.Stat(b.tools["millrace"].path)
	if err != nil {
		return Outcome{}, err
	}
	took, empty := middle(left).Wall, middle(right).Wall
	return Outcome{Figures: []Figure{
		{
			What:  "millrace version, over a program that imports the library and ends",
			Value: max(took-empty, time.Microsecond).Seconds() * 1e3, Unit: "ms", Goal: 1,
			Note: fmt.Sprintf("%.1f and %.1f ms, medians of %d", took.Seconds()*1e3, empty.Seconds()*1e3, many.runs),
		},
		{What: "millrace version", Value: took.Seconds() * 1e3, Unit: "ms", Goal: 4},
		{
			What: "size of the program", Value: float64(file.Size()) / 1e6, Unit: "MB", Goal: 16,
			Note: "built with -ldflags '-s -w', the size of a release",
		},
	}}, nil
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
