package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestHostile_a_directory_swapped_for_a_link_in_a_loop uses every kind of path through a directory, or to a file, that
// constantly turns into a link to the outside and back. Most attempts fail; the test checks that nothing from outside
// is seen, and nothing there is changed.
func TestHostile_a_directory_swapped_for_a_link_in_a_loop(t *testing.T) {
	t.Parallel()
	for i, kind := range []string{"root", "base"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newSwapped(t)
			fsys, err := open(kind, s.root)
			if err != nil {
				t.Fatal(err)
			}
			r := &swapRace{swapped: s, kind: kind, fsys: fsys, want: fstest.Runs(5_000, 50_000, 1_000_000)}
			s.begin(uint64(i))
			var wg sync.WaitGroup
			for n, do := range []func(rnd *rand.Rand) error{r.plan, r.commit} {
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(uint64(i), uint64(n)))
					for err := error(nil); err == nil && !r.enough() && !t.Failed(); {
						if err = do(rnd); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			s.end()
			if err := s.quiet(s.checkTree); err != nil {
				t.Error(err)
			}
			r.report(t)
		})
	}
}

// swapRace is the activity in a swapped tree.
type swapRace struct {
	*swapped
	kind   string // the kind of fsys, see open
	fsys   afero.Fs
	want   int
	good   counters
	bad    counters
	rounds int
}

// kinds returns the kinds of all steps, and of operations with whole pipelines.
func (r *swapRace) kinds() []string { return slices.Sorted(maps.Keys(swapKinds())) }

func (r *swapRace) ops() int { return r.good.get("") + r.bad.get("") }

// count counts n operations of a kind.
func (r *swapRace) count(kind string, n int, ok bool) {
	c := &r.bad
	if ok {
		c = &r.good
	}
	c.add(kind, n)
	c.add("", n)
}

// look checks that no output of the library contains the secret.
func look(what string, result any, err error, texts ...string) error {
	data, merr := json.Marshal(result)
	if merr != nil {
		return merr
	}
	texts = append(texts, string(data))
	if err != nil {
		texts = append(texts, err.Error())
	}
	for _, text := range texts {
		if strings.Contains(text, secret) {
			return fmt.Errorf("the secret is in the %s: %s", what, text)
		}
	}
	return nil
}

// judge counts the results of the steps. A failed step has tried at least one path.
func (r *swapRace) judge(res *millrace.Result, of map[string]string) {
	for _, step := range res.Results {
		kind, ours := of[step.StepID]
		switch {
		case !ours:
			kind = "search"
		case kind == "file_exists":
			// A failure to read is not a failure to check.
			r.count(kind, 1, !step.Failed() || strings.Contains(step.Error, "always"))
			continue
		case step.Skipped:
			continue
		}
		n := 1
		if step.Success {
			n = max(1, len(step.FilesMatched))
		}
		r.count(kind, n, step.Success)
	}
}

// plan plans pipelines and shows their changes.
func (r *swapRace) plan(rnd *rand.Rand) error {
	p, of, err := swapPipeline(rnd, r.kinds())
	if err != nil {
		return err
	}
	plan, err := (millrace.Executor{}).Plan(context.Background(), r.fsys, p)
	r.count("plan", 1, err == nil)
	r.judge(plan.Result(), of)
	var shown strings.Builder
	derr := plan.WriteDiff(&shown)
	r.count("plan's diff", len(plan.Changes()), derr == nil)
	return errors.Join(look("plan", plan.Result(), err, shown.String()), look("error of the diff", nil, derr))
}

// commit runs pipelines, restores the backups, and occasionally dies in the middle and recovers.
func (r *swapRace) commit(rnd *rand.Rand) error {
	if err := r.repair(); err != nil {
		return err
	}
	// Use few steps, because a commit succeeds only if all paths are real for its whole duration.
	p, of, err := swapPipeline(rnd, r.kinds())
	if rnd.IntN(2) == 0 {
		p, of, err = swapPipeline(rnd, []string{"edit"})
	}
	if err != nil {
		return err
	}
	ctx, x := context.Background(), millrace.Executor{State: millrace.State{NoSync: true}}
	if rnd.IntN(4) == 0 {
		if err := r.die(rnd, p); err != nil {
			return err
		}
	}
	res, err := x.Run(ctx, r.fsys, p)
	if err := look("result", res, err); err != nil {
		return err
	}
	if res == nil {
		return r.settle(err) // an earlier one could not be recovered in the middle of the race
	}
	r.judge(res, of)
	if n := res.FilesChanged.Count(); n > 0 {
		r.count("commit", n, res.Commit.State == millrace.CommitApplied)
	}
	if res.BackupID != "" {
		back, err := x.Restore(ctx, r.fsys, res.BackupID)
		r.count("restore", max(1, res.FilesChanged.Count()), err == nil)
		if err := look("restore", back, err); err != nil {
			return err
		}
	}
	if r.rounds++; r.rounds%50 == 0 {
		return r.quiet(r.checkTree)
	}
	return nil
}

// die has another process run a pipeline up to some phase of its commit and kill itself there, and recovers. A failing
// observer does not stop a commit, so a kill is needed.
func (r *swapRace) die(rnd *rand.Rand, p millrace.Pipeline) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	v, err := start("until", r.kind, r.root, phases()[4+rnd.IntN(3)], string(data))
	if err != nil {
		return err
	}
	var said strings.Builder
	err = v.drain(func(line string) { said.WriteString(line + "\n") })
	if said.Len() == 0 || v.stderr.Len() > 0 {
		return fmt.Errorf("the victim ended without a kill (%v), printed %q, %q", err, said.String(), v.stderr.String())
	}
	if err := look("victim", nil, nil, said.String()); err != nil {
		return err
	}
	if !exists(r.root, stateDir, "tx") {
		return nil // it had nothing to commit
	}
	got, err := (millrace.Executor{State: millrace.State{NoSync: true}}).Recover(context.Background(), r.fsys)
	if err != nil || len(got.RolledBack)+len(got.Finished) > 0 {
		r.count("recover", 1, err == nil)
	}
	return look("recovery", got, err)
}

// settle runs a recovery that was impossible during the race, while nothing is swapped.
func (r *swapRace) settle(why error) error {
	failed, ok := errors.AsType[*millrace.CommitError](why)
	if !ok {
		return why
	}
	r.count("recover", 1, false)
	return errors.Join(look("recovery", nil, failed), r.quiet(func() error {
		_, err := (millrace.Executor{}).Recover(context.Background(), r.fsys)
		if err == nil {
			return r.checkTree()
		}
		// The conflict has been moved away, so nothing of it may be left.
		_, err = (millrace.Executor{}).Recover(context.Background(), r.fsys)
		return errors.Join(err, r.checkTree())
	}))
}

// missing returns the kinds of operations that have never succeeded, or never failed.
func (r *swapRace) missing() []string {
	return slices.DeleteFunc(append(r.kinds(), "plan", "plan's diff", "commit", "restore", "recover"), func(kind string) bool {
		return r.good.get(kind) > 0 && r.bad.get(kind) > 0
	})
}

// enough reports whether to stop waiting: the rarest kinds may take twice as long.
func (r *swapRace) enough() bool {
	n := r.ops()
	return n >= 2*r.want || n >= r.want && len(r.missing()) == 0
}

// report fails the test for each kind that never succeeded or never failed.
func (r *swapRace) report(t *testing.T) {
	t.Helper()
	if missing := r.missing(); len(missing) > 0 && r.want >= 50_000 {
		t.Errorf("there was no race: %q have never worked, or never failed", missing)
	}
	fstest.Countf(t, "%d operations, %d swaps, directory displaced %d times; worked: %v; failed: %v", r.ops(), r.swaps, r.displaced, r.good.n, r.bad.n)
}

// TestHostile_the_swap_race_is_seen_by_names_alone reads through a file system that uses only names: it must see the
// secret, or the test above could not see it either.
func TestHostile_the_swap_race_is_seen_by_names_alone(t *testing.T) {
	t.Parallel()
	s := newSwapped(t)
	s.begin(7)
	defer s.end()
	fsys, err := open("base", s.root)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 1_000_000; n++ {
		data, _ := afero.ReadFile(fsys, swappedDir+"/f0")
		if strings.Contains(string(data), secret) {
			t.Logf("seen at read %d", n)
			return
		}
	}
	t.Error("the secret was never seen")
}
