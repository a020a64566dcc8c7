package main

import (
	"context"
	"fmt"
)

// flowJobs measure the cost of jumps and retries of steps.
func flowJobs() []job {
	return []job{{"flow/jumps", nil, flowJumps}, {"growth/visits", nil, growthVisits}}
}

// flowSteps is how many steps a pipeline may have.
const flowSteps = 20

// straight is a pipeline of as many steps as there may be: it finds a text, replaces it forth and back, and counts it.
func straight(from, to string) []object {
	steps := []object{searching(from, "literal", false, true)}
	for i := range flowSteps - 2 {
		steps = append(steps, object{
			"id": fmt.Sprintf("edit%d", i), "action": "edit", "input_from": "find",
			"params": object{"old_text": from, "new_text": to},
		})
		from, to = to, from
	}
	return append(steps, object{
		"id": "left", "action": "count_occurrences", "input_from": "find", "params": object{"pattern": from},
	})
}

// jumping is the same with all that can lead elsewhere in each step, and never does.
func jumping(from, to string) []object {
	steps := straight(from, to)
	for i := range steps[:flowSteps-1] {
		s := steps[i]
		s["next"], s["on_fail"], s["max_retries"] = steps[i+1]["id"], "left", 3
		s["retry_if"] = []object{{"step": s["id"], "keyword": "this stands nowhere"}}
	}
	return steps
}

// flowJumps compares a pipeline that could jump after each step with a pipeline that cannot.
func flowJumps(ctx context.Context, b *bench) (Outcome, error) {
	const name, places = "flow/jumps", 4
	dir, err := b.generated(b.scale.editFiles, 16<<10, places, true)
	if err != nil {
		return Outcome{}, err
	}
	ours := b.ours(name, dir, encode(jumping(needle, thread)...), "-print", "total")
	theirs := b.ours(name+"-straight", dir, encode(straight(needle, thread)...), "-print", "total")
	left, right, err := b.pairs(ctx, b.warm, always(ours), always(theirs), nil)
	want := b.scale.editFiles * places
	for _, c := range []command{ours, theirs} {
		if err == nil {
			err = b.expect(c.out, want)
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	verified := thousands(want) + " places"
	return Outcome{Versus: []Versus{versus("millrace: the same 20 steps without jumps", verified, growthGoal, left,
		right)}}, nil
}

// growthVisits is the growth with the number of visits, each with a savepoint of its own, on a stage with many files.
func growthVisits(ctx context.Context, b *bench) (Outcome, error) {
	const places = 1
	files := 3 * b.scale.editFiles
	what := "dry run, by visits on a stage of " + thousands(files) + " changed files: "
	return b.growthBy(ctx, "growth/visits", what, 12, func(n int) (string, string, int, error) {
		dir, err := b.generated(files, 4<<10, places, true)
		return dir, visiting(needle, thread, n), files * places, err
	})
}

// visiting is a pipeline that replaces a text, and then goes to and fro between two steps: so many visits in all.
func visiting(from, to string, visits int) string {
	return encode(
		searching(from, "literal", false, true),
		object{"id": "fix", "action": "edit", "input_from": "find", "params": object{"old_text": from, "new_text": to}},
		object{"id": "tick", "action": "create", "max_visits": visits / 2,
			"params": object{"path": "tick.txt", "content": "x", "overwrite": true}},
		object{
			"id": "check", "action": "list", "on_fail": "left", "params": object{"path": "tick.txt"},
			"retry_if": []object{{"step": "tick", "when": object{"type": "has_matches", "step_ref": "check"}}},
		},
		object{"id": "left", "action": "count_occurrences", "input_from": "find", "params": object{"pattern": to}},
	)
}
