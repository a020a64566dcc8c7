package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// runsJobs are about durable runs and fleets.
func runsJobs() []job {
	return []job{{"runs/list", nil, runsList}, {"runs/durable", nil, runsDurable}, {"runs/resume", nil, runsResume},
		{"runs/fleet", nil, runsFleet}}
}

// runTimes runs the hidden sub-command runs in a process of its own, and reads its output.
func (b *bench) runTimes(ctx context.Context, what string, n int) (got runTimes, err error) {
	dir, err := os.MkdirTemp(b.work(""), "runs-")
	if err != nil {
		return got, err
	}
	if err := b.settle(ctx); err != nil {
		return got, err
	}
	c := command{dir: b.dir, out: b.out("runs-" + what), args: []string{b.self, "runs", what, dir, fmt.Sprint(n)}}
	if _, err = b.run(ctx, c); err != nil {
		return got, err
	}
	data, err := os.ReadFile(c.out)
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(data, &got)
}

func runsList(ctx context.Context, b *bench) (out Outcome, err error) {
	for _, row := range []struct {
		what, about string
		goal        float64
	}{{"ended", "that have ended, by user and time", 15}, {"queue", "that wait for their time", 50}} {
		got, err := b.runTimes(ctx, row.what, b.scale.listRuns)
		if err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, Figure{
			What:  fmt.Sprintf("a page of 50 of %s runs %s", thousands(got.N), row.about),
			Value: got.One.Seconds() * 1e3, Unit: "ms", Goal: row.goal,
		})
	}
	return out, nil
}

func runsDurable(ctx context.Context, b *bench) (Outcome, error) {
	got, err := b.runTimes(ctx, "durable", b.scale.durableRuns)
	return Outcome{Figures: []Figure{{
		What:  "what a store adds to a run of three steps",
		Value: max(got.One-got.Other, time.Microsecond).Seconds() * 1e3, Unit: "ms", Goal: 2,
		Note: fmt.Sprintf("%.2f ms in a store, %.2f without; medians of %d", got.One.Seconds()*1e3,
			got.Other.Seconds()*1e3,
			got.N),
	}}}, err
}

func runsResume(ctx context.Context, b *bench) (Outcome, error) {
	got, err := b.runTimes(ctx, "resume", b.scale.resumeFiles)
	return Outcome{Figures: []Figure{{
		What:  fmt.Sprintf("a run that has staged %s files is resumed, up to its first step", thousands(got.N)),
		Value: got.One.Seconds() * 1e3, Unit: "ms", Goal: 80,
	}}}, err
}

func runsFleet(ctx context.Context, b *bench) (Outcome, error) {
	local, err := b.runTimes(ctx, "local", b.scale.fleetTrees)
	if err != nil {
		return Outcome{}, err
	}
	store, err := b.runTimes(ctx, "store", b.scale.fleetTrees)
	if err != nil {
		return Outcome{}, err
	}
	each := func(t runTimes) (one, other float64) {
		return t.One.Seconds() * 1e3 / float64(t.N), t.Other.Seconds() * 1e3 / float64(t.N)
	}
	with, without := each(local)
	stored, loose := each(store)
	trees := thousands(local.N) + " small trees"
	return Outcome{Figures: []Figure{
		{What: "a fleet of " + trees + ", against goroutines that call Run", Value: with / without, Unit: "times", Goal: 1.2,
			Note: fmt.Sprintf("%.2f ms a tree, %.2f without", with, without)},
		{What: "what a store adds to a tree of a fleet of " + trees, Value: max(stored-loose, 1e-3), Unit: "ms", Goal: 1.5,
			Note: fmt.Sprintf("%.2f ms a tree, %.2f without", stored, loose)},
	}}, nil
}
