package main

import (
	"context"
	"fmt"
)

// memoryJobs look at the most memory that a run takes.
func memoryJobs() []job {
	return []job{{"memory/search", nil, memorySearch}, {"memory/run", nil, memoryRun}}
}

const mebibyte = 1 << 20

func memorySearch(ctx context.Context, b *bench) (Outcome, error) {
	s := search{name: "memory/search", mode: "literal"}
	c := s.ours(b, s.name, false)
	u, err := b.least(ctx, b.warm+b.runs, always(c))
	if err != nil {
		return Outcome{}, err
	}
	found, err := readLines(c.out)
	note := fmt.Sprintf("%s of %s files found, %.0f MiB searched", thousands(len(found)), thousands(b.base.Files),
		float64(b.base.Bytes)/mebibyte)
	return Outcome{Figures: []Figure{
		{What: "peak memory, search of the whole tree", Value: float64(u.RSS) / mebibyte, Unit: "MiB", Goal: 32, Note: note},
	}}, err
}

// memoryRun commits a change of very many files, and the way back.
func memoryRun(ctx context.Context, b *bench) (Outcome, error) {
	if err := b.copies(); err != nil {
		return Outcome{}, err
	}
	u, err := b.least(ctx, 2, side{
		prepare: func(ctx context.Context, _ int) error { return b.settle(ctx) },
		command: func(round int) command {
			from, to := direction(round, b.scale.manyFrom, b.scale.manyTo)
			return b.ours("memory/run", b.left, replacing(from, to), "-do", "run", "-print", "counts")
		},
	})
	if err == nil {
		err = sameTrees("memory/run in the end", b.left, b.base)
	}
	if err != nil {
		b.left, b.right = "", ""
		return Outcome{}, err
	}
	changed, err := readLines(b.out("memory/run"))
	note := fmt.Sprintf("%s files changed; %.1f s wall, %.1f s cpu", thousands(len(changed)), u.Wall.Seconds(),
		u.CPU.Seconds())
	return Outcome{Figures: []Figure{
		{What: "peak memory, run that changes very many files", Value: float64(u.RSS) / mebibyte, Unit: "MiB", Goal: 64, Note: note},
	}}, err
}
