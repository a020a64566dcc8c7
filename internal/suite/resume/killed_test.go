package resume_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/suite/drawn"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// told returns all that a run reports, except times and ids.
func told(res *millrace.Result, err error) string {
	data, jerr := json.Marshal(res)
	var v any
	if jerr == nil {
		jerr = json.Unmarshal(data, &v)
	}
	if jerr != nil {
		return jerr.Error()
	}
	timeless(v)
	data, _ = json.MarshalIndent(v, "", " ")
	return fmt.Sprintf("%v %v\n%s", err, millrace.ErrorCode(err), data)
}

func timeless(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			timeless(e)
		}
	case map[string]any:
		for _, name := range []string{"duration", "total_duration", "backup_id", "guarantee"} {
			delete(v, name)
		}
		for _, e := range v {
			timeless(e)
		}
	}
}

func treeOf(t rapid.TB, fsys afero.Fs) string {
	files, err := txtarfs.Read(fsys, ".millrace")
	if err != nil {
		t.Fatal(err)
	}
	return string(txtarfs.Format(files))
}

// world is the surroundings of a run that survive when a process dies: the words of each step in finished visits.
type world struct {
	tape *drawn.Tape
	said map[string][]string
}

func newWorld(ctx context.Context) (context.Context, *world) {
	ctx, tape := drawn.Taped(ctx)
	return ctx, &world{tape, make(map[string][]string)}
}

// ended records that a visit is finished. A failure that has ended the run is repeated after the resume, and must be
// the same failure.
func (w *world) ended(c millrace.Checkpoint, p millrace.Pipeline) {
	if !c.Result.Failed() || c.Result.Handled || p.Options().ContinueOnError {
		w.said[c.Step] = w.tape.Words(c.Step)
	}
}

// again returns the world of the next process.
func (w *world) again(ctx context.Context) (context.Context, *world) {
	ctx, next := newWorld(ctx)
	for step, words := range w.said {
		next.said[step] = words
		next.tape.Said[step] = append([]string(nil), words...)
	}
	return ctx, next
}

// killed runs a pipeline again and again until it ends: process i does not survive call kills[i].
func killed(t *testing.T, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline, s *store, kills []int, late bool) (*millrace.Result, error) {
	ctx, w := newWorld(t.Context())
	x.Checkpoints = s
	for i := 0; ; i++ {
		s.next(0, late)
		if i < len(kills) {
			s.kill = kills[i]
		}
		s.onEnd = func(c millrace.Checkpoint) { w.ended(c, p) }
		res, err := x.Resume(ctx, fsys, p, s.saved())
		if !errors.Is(err, errKilled) {
			return res, err
		}
		ctx, w = w.again(t.Context())
	}
}

// checkKilled kills the run of a pipeline once at every call of its Checkpointer, and twice at some calls. The result
// must be the same as without a kill.
func checkKilled(t *testing.T, r *rapid.T, files []txtarfs.File, p millrace.Pipeline, most int) (calls int) {
	fsys := suite.Memory(t, files)
	ctx, _ := newWorld(t.Context())
	res, err := millrace.Executor{Workers: 2}.Run(ctx, fsys, p)
	want := told(res, err) + treeOf(r, fsys)

	whole := new(store)
	fsys = suite.Memory(t, files)
	ctx, _ = newWorld(t.Context())
	kept, keptErr := millrace.Executor{Workers: 2, Checkpoints: whole}.Run(ctx, fsys, p)
	if d := cmp.Diff(want, told(kept, keptErr)+treeOf(r, fsys)); d != "" {
		r.Fatalf("a run with a Checkpointer differs (-plain +kept):\n%s", d)
	}
	for n := range min(whole.calls, most) {
		at := n + 1
		if whole.calls > most {
			at = rapid.IntRange(1, whole.calls).Draw(r, "kill")
		}
		for _, late := range []bool{false, true} {
			kills := []int{at}
			if rapid.IntRange(1, 4).Draw(r, "again") == 1 {
				kills = append(kills, rapid.IntRange(1, 6).Draw(r, "second"))
			}
			fsys := suite.Memory(t, files)
			s := new(store)
			res, err := killed(t, millrace.Executor{Workers: 2}, fsys, p, s, kills, late)
			if d := cmp.Diff(want, told(res, err)+treeOf(r, fsys)); d != "" {
				r.Fatalf("killed at %v of %d calls (late: %v), the result differs (-whole +killed):\n%s", kills, whole.calls, late, d)
			}
		}
	}
	return whole.calls
}

// A run that is killed before an attempt, after an attempt, or before the commit, and then resumed, has the tree, the
// results and the history of a run that is not killed.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	calls := 0
	for range fstest.Runs(1, 4, 60) {
		rapid.Check(t, func(r *rapid.T) {
			calls += checkKilled(t, r, drawn.Tree(r), drawn.Pipeline(r), 4)
		})
	}
	t.Log(calls, "calls")
}

// The same holds for a run whose steps run in parallel.
func TestKilledInParallel(t *testing.T) {
	t.Parallel()
	for range fstest.Runs(1, 3, 40) {
		rapid.Check(t, func(r *rapid.T) { checkKilled(t, r, drawn.Tree(r), drawn.Parallel(r), 4) })
	}
}
