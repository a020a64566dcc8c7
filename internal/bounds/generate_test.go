package bounds_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/millrace-go/millrace"
)

// pipelineBytes is the maximum length of the JSON of a pipeline.
const pipelineBytes = 64 << 10

// generated is made from a seed or a name: a demanding pipeline, a tree, and how to run it.
type generated struct {
	Shape    string
	OnDisk   bool // else in memory
	Lenient  bool
	Planned  bool // Plan, then Commit; else Run
	Deadline time.Duration
	Pipeline []byte
}

func generate(seed uint64) generated {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	names := slices.Sorted(maps.Keys(shapes))
	g.shape = names[g.IntN(len(names))]
	made := generated{
		Shape: g.shape, OnDisk: g.one(3), Lenient: g.one(5), Planned: g.one(2),
		// A short deadline reveals code that ignores the context; a long deadline lets the run get further.
		Deadline: []time.Duration{30 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second, 4 * time.Second}[g.IntN(4)],
	}
	count := []int{1, 1, 2, 3, 5, 20}[g.IntN(6)]
	for i := range count {
		g.room = (pipelineBytes - 1000) / count
		if g.one(2) {
			g.room /= 1 + g.IntN(100)
		}
		g.add(fmt.Sprintf("s%d", i))
	}
	for {
		whole := object{
			"name": "hostile", "steps": g.steps, "force": !g.one(20), "parallel": g.one(3), "stop_on_error": !g.one(3),
			"create_backup": !g.one(3), "verbose": g.one(3), "dry_run": g.one(20),
		}
		if g.one(2) {
			g.steer(whole)
		}
		made.Pipeline = encode(whole)
		if len(made.Pipeline) <= pipelineBytes {
			return made
		}
		if len(g.steps) == 1 {
			return generate(seed + 1<<32)
		}
		g.steps = g.steps[:len(g.steps)-1]
	}
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

type object = map[string]any

// generator makes the parts of a pipeline. Room is the number of bytes left for the current step.
type generator struct {
	*rand.Rand
	shape string
	room  int
	steps []object
}

// add adds a step that the decoder accepts, with a few exceptions: a pipeline that is refused at once tests nothing
// else.
func (g *generator) add(id string) {
	room := g.room
	for range 8 {
		g.room = room
		step := g.step(id)
		with := append(slices.Clone(g.steps), step)
		if _, err := millrace.Decode(encode(object{"name": "hostile", "steps": with})); err == nil || g.one(50) {
			g.steps = with
			return
		}
	}
	g.steps = append(g.steps, object{"id": id, "action": "list"})
}

// file returns the name of a file in the tree, or of a missing one.
func (g *generator) file(i int) string {
	switch g.shape {
	case "many":
		return fmt.Sprintf("d%02d/e%02d/f%d.txt", i%50, i/50%10, i)
	case "newlines in a hundred files":
		return fmt.Sprintf("d/f%d.txt", i)
	case "deep":
		return fmt.Sprintf("%sf%d.txt", repeat("d/", i+1), i)
	}
	return fmt.Sprintf("f%d.txt", i)
}

// one returns true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

// some repeats a text as often as there is room for, or less often.
func (g *generator) some(text string) string {
	most := max(1, g.room/(len(text)+4)/2)
	if !g.one(3) {
		most = 1 + g.IntN(min(most, 50))
	}
	return repeat(text, most)
}

// earlier returns the id of an earlier step, or an unknown id.
func (g *generator) earlier() string {
	if len(g.steps) == 0 {
		return "s0"
	}
	if g.one(2) {
		return fmt.Sprint("s", len(g.steps)-1)
	}
	return fmt.Sprint("s", g.IntN(len(g.steps)))
}

// step returns a step of any action.
func (g *generator) step(id string) object {
	action := g.pick("aggregate", "aggregate", "copy", "count_occurrences", "create", "delete", "diff", "edit", "edit", "edit_files", "edit_files",
		"list", "merge", "multi_edit", "multi_edit", "patch", "patch", "pattern_replace", "pattern_replace", "pattern_replace", "read_ranges", "read_ranges",
		"regex_transform", "regex_transform", "rename", "search", "search")
	if len(g.steps) == 0 && g.one(3) {
		action = "search"
	}
	step := object{"id": id, "action": action}
	if params := g.params(action); len(params) > 0 {
		step["params"] = params
	}
	g.inputs(action, step)
	if len(g.steps) > 0 && g.one(6) {
		step["condition"] = g.condition()
	}
	if g.one(20) {
		step["expect"] = object{g.pick("min_files", "max_files", "min_edits", "max_edits"): g.IntN(3) * g.IntN(1<<30)}
	}
	return step
}

// inputs gives a step input files: those of earlier steps, or names.
func (g *generator) inputs(action string, step object) {
	switch action {
	case "aggregate", "merge":
		if len(g.steps) < 2 {
			delete(step, "params")
			step["action"] = "list"
			step["params"] = object{"depth": -1}
			return
		}
		ids := map[string]bool{}
		for range 2 + g.IntN(20) {
			ids[g.earlier()] = true
		}
		for i := 0; len(ids) < 2; i++ {
			ids[fmt.Sprint("s", i)] = true
		}
		step["input_from_all"] = slices.Sorted(maps.Keys(ids))
	case "copy", "count_occurrences", "delete", "edit", "multi_edit", "read_ranges", "regex_transform", "rename":
		if len(g.steps) > 0 && !g.one(4) {
			step["input_from"] = g.earlier()
			return
		}
		params, _ := step["params"].(object)
		if params == nil {
			params = object{}
			step["params"] = params
		}
		params["files"] = g.files()
	}
}

func (g *generator) condition() object {
	kind := g.pick("has_matches", "no_matches", "count_gt", "count_lt", "count_eq", "file_exists", "file_not_exists", "step_succeeded", "step_failed")
	c := object{"type": kind}
	switch kind {
	case "file_exists", "file_not_exists":
		c["path"] = g.pick(g.file(0), g.some("d/"), "{{"+g.earlier()+".files[0]}}")
	case "count_gt", "count_lt", "count_eq":
		c["value"] = g.IntN(100)
		fallthrough
	default:
		c["step_ref"] = g.earlier()
	}
	return c
}
