package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// patchJobs apply a patch whose hunks all fit where they say: forth in one round and back in the next.
func patchJobs() []job {
	return []job{{"patch/apply", []string{"git"}, patchApply}}
}

const (
	patchPlaces  = 5 // hunks in each file
	patchGoal    = 1.15
	patchContext = 3 // lines around what a hunk changes
)

func patchApply(ctx context.Context, b *bench) (Outcome, error) {
	const name = "patch/apply"
	base, err := b.generated(b.scale.patchFiles, 16<<10, patchPlaces, true)
	if err != nil {
		return Outcome{}, err
	}
	want, err := digest(base)
	if err != nil {
		return Outcome{}, err
	}
	left, right := b.work("patch-left"), b.work("patch-right")
	for _, dir := range []string{left, right} {
		if err := copyTree(base, dir); err != nil {
			return Outcome{}, err
		}
	}
	text, hunks, err := patchOf(base)
	if err != nil {
		return Outcome{}, err
	}
	patchFile := b.work("patch.diff")
	if err := os.WriteFile(patchFile, []byte(text), 0o644); err != nil {
		return Outcome{}, err
	}
	pipelines := [2]string{b.work("patch.json"), b.work("patch-back.json")}
	for i, file := range pipelines {
		step := object{"id": "p", "action": "patch", "params": object{"patch": text, "reverse": i == 1}}
		if err := os.WriteFile(file, []byte(encode(step)), 0o644); err != nil {
			return Outcome{}, err
		}
	}
	settle := func(ctx context.Context, _ int) error { return b.settle(ctx) }
	git := func(flags ...string) command {
		return command{dir: right, out: b.out(name + "-git"),
			args: append(append([]string{b.tools["git"].path, "apply"}, flags...), patchFile)}
	}
	ours := side{prepare: settle, command: func(round int) command {
		return b.ours(name, left, "@"+pipelines[round%2], "-do", "run", "-print", "nothing")
	}}
	theirs := side{prepare: settle, command: func(round int) command {
		return git([]string{"--whitespace=nowarn", "--reverse"}[:1+round%2]...)
	}}
	// The written tree is compared first: run within a repository, git silently skips files outside of it.
	leftRuns, rightRuns, err := b.pairs(ctx, b.even(), ours, theirs, func(round int) error {
		if round > 0 {
			return nil
		}
		changed, err := digest(right)
		if err == nil && changed.SHA256 == want.SHA256 {
			err = wrong("%s: git has changed nothing", name)
		}
		if err != nil {
			return err
		}
		return sameTrees(name, left, changed)
	})
	if err != nil {
		return Outcome{}, err
	}
	for _, dir := range []string{left, right} {
		if err := sameTrees(name+" in the end", dir, want); err != nil {
			return Outcome{}, err
		}
	}
	said := fmt.Sprintf("%s hunks in %s files", thousands(hunks), thousands(b.scale.patchFiles))
	commit := versus("git apply", said+", trees equal", patchGoal, leftRuns, rightRuns)
	check := b.ours(name+"-check", left, "@"+pipelines[0], "-print", "nothing")
	leftRuns, rightRuns, err = b.pairs(ctx, b.warm, always(check), always(git("--check")), nil)
	return Outcome{Versus: []Versus{versus("git apply --check", said+", trees equal", patchGoal, leftRuns,
		rightRuns), commit}}, err
}

// patchOf is a unified diff that replaces the needle in all files of a tree, and the number of its hunks.
func patchOf(dir string) (string, int, error) {
	names, err := plainFiles(dir)
	if err != nil {
		return "", 0, err
	}
	var b strings.Builder
	hunks := 0
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return "", 0, err
		}
		fmt.Fprintf(&b, "--- a/%s\n+++ b/%[1]s\n", name)
		all := strings.SplitAfter(string(data), "\n")
		all = all[:len(all)-1] // after the last line end
		for i, last := 0, -1-2*patchContext; i < len(all); i++ {
			if !strings.Contains(all[i], needle) || i <= last+2*patchContext {
				continue // the context of two hunks does not overlap
			}
			last = i
			from, to := max(0, i-patchContext), min(len(all), i+patchContext+1)
			fmt.Fprintf(&b, "@@ -%d,%d +%[1]d,%[2]d @@\n", from+1, to-from)
			for k := from; k < to; k++ {
				if k == i {
					fmt.Fprintf(&b, "-%s+%s", all[k], strings.ReplaceAll(all[k], needle, thread))
				} else {
					b.WriteString(" " + all[k])
				}
			}
			hunks++
		}
	}
	return b.String(), hunks, nil
}
