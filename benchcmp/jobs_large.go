package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// largeJobs work on one large file.
func largeJobs() []job {
	return []job{
		{"large/count", []string{"rg"}, largeCount},
		{"large/replace", []string{"rg", "sed"}, largeReplace},
	}
}

const (
	largeName = "large.go"
	largeRSS  = 32 << 20 // the most memory that millrace may take for one
)

// large returns a directory with the file in it.
func (b *bench) large(side string) (string, error) {
	dir := b.work("large-" + side)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	b.logf("generating %s", filepath.Join(dir, largeName))
	rng := rand.New(rand.NewPCG(7, 7))
	return dir, generateFile(filepath.Join(dir, largeName), rng, lines(rng, 1<<14), b.scale.largeBytes,
		b.scale.largePlaces)
}

func largeCount(ctx context.Context, b *bench) (Outcome, error) {
	dir, err := b.large("left")
	if err != nil {
		return Outcome{}, err
	}
	ours := b.ours("large/count", dir, countingIn(largeName, needle), "-unlimited", "-print", "total")
	theirs := command{
		dir: dir, out: b.out("large/count-rg"),
		args: []string{b.tools["rg"].path, "--no-mmap", "--count-matches", "-F", needle, largeName},
	}
	left, right, err := b.pairs(ctx, b.warm, always(ours), always(theirs), nil)
	if err != nil {
		return Outcome{}, err
	}
	said, err := b.places(ours.out, theirs.out)
	v := versus("rg --no-mmap --count-matches -F", said, 1.2, left, right)
	v.GoalRSS = largeRSS
	return Outcome{Versus: []Versus{v}}, err
}

// places holds two counts of all places against each other.
func (b *bench) places(outputs ...string) (string, error) {
	want := b.scale.largePlaces
	for _, out := range outputs {
		data, err := os.ReadFile(out)
		if err != nil {
			return "", err
		}
		if got := strings.TrimSpace(string(data)); got != strconv.Itoa(want) {
			return "", wrong("%s: %s places, not %d", out, got, want)
		}
	}
	return thousands(want) + " places", nil
}

func largeReplace(ctx context.Context, b *bench) (Outcome, error) {
	leftDir, err := b.large("left")
	if err != nil {
		return Outcome{}, err
	}
	rightDir, err := b.large("right")
	if err != nil {
		return Outcome{}, err
	}
	base, err := digest(leftDir)
	if err != nil {
		return Outcome{}, err
	}
	if err := sameTrees("the other large file", rightDir, base); err != nil {
		return Outcome{}, err
	}
	ours := side{
		prepare: func(ctx context.Context, _ int) error {
			if err := forget(leftDir); err != nil { // each backup is as large as the file
				return err
			}
			return b.settle(ctx)
		},
		command: func(round int) command {
			from, to := direction(round, needle, thread)
			return b.ours("large/replace", leftDir, replacingIn(largeName, from, to), "-unlimited", "-do", "run",
				"-print",
				"nothing")
		},
	}
	theirs := side{
		prepare: func(ctx context.Context, _ int) error { return b.settle(ctx) },
		command: func(round int) command {
			return command{
				dir: rightDir, out: b.out("large/replace-sed"),
				args: []string{b.tools["sed"].path, "-i", substitute(direction(round, needle, thread)), largeName},
			}
		},
	}
	var said string
	left, right, err := b.pairs(ctx, b.even(), ours, theirs, func(round int) error {
		if round > 0 {
			return nil
		}
		changed, err := digest(rightDir)
		if err != nil {
			return err
		}
		if err := sameTrees("large/replace", leftDir, changed); err != nil {
			return err
		}
		count := command{dir: rightDir, out: b.out("large/replace-count"),
			args: []string{b.tools["rg"].path, "--count-matches", "-F", thread, largeName}}
		if _, err := b.run(ctx, count); err != nil {
			return err
		}
		said, err = b.places(count.out)
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	for _, dir := range []string{leftDir, rightDir} {
		if err := sameTrees("large/replace in the end", dir, base); err != nil {
			return Outcome{}, err
		}
	}
	if err := forget(leftDir); err != nil {
		return Outcome{}, err
	}
	v := versus("sed -i "+quote(substitute(needle, thread)), said+", files equal", 0.35, left, right)
	v.GoalRSS = largeRSS
	return Outcome{Versus: []Versus{v}}, nil
}
