package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// playHalf changes generation 0 to generation 1 but does not commit: it kills itself after everything is written.
func playHalf(args []string) error {
	fsys, err := open(args[0], args[1])
	if err != nil {
		return err
	}
	x := millrace.Executor{Observe: func(e millrace.Event) {
		tellPhases(e)
		if e == (millrace.CommitPhase{Phase: "sync"}) {
			die()
		}
	}}
	p, err := advance(0, false)
	if err != nil {
		return err
	}
	_, err = x.Run(context.Background(), fsys, p)
	return errors.Join(errors.New("still alive"), err)
}

// die kills this process, without any chance for it to react.
func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // the signal takes a moment
}

// playUntil runs the pipeline with the JSON in args[3], and kills itself when its commit reaches the phase args[2]. It
// prints "dies" before that, or "lives" and the result if it never got there.
func playUntil(args []string) error {
	fsys, err := open(args[0], args[1])
	if err != nil {
		return err
	}
	p, err := millrace.Decode([]byte(args[3]))
	if err != nil {
		return err
	}
	x := millrace.Executor{State: millrace.State{NoSync: true}, Observe: func(e millrace.Event) {
		if e == (millrace.CommitPhase{Phase: args[2]}) {
			say("dies")
			die()
		}
	}}
	_, err = x.Run(context.Background(), fsys, p)
	say("lives: %v", err)
	return nil
}

// dieAtSightOf kills this process as soon as a file's content changes: amid the changes of a tree, however fast the
// machine is.
func dieAtSightOf(path string) {
	before, _ := os.ReadFile(path)
	for now := before; string(now) == string(before); now, _ = os.ReadFile(path) {
		runtime.Gosched()
	}
	die()
}

// playRecover recovers. A further argument is a file at whose change it kills itself.
func playRecover(args []string) error {
	fsys, err := open(args[0], args[1])
	if err != nil {
		return err
	}
	if len(args) > 2 {
		go dieAtSightOf(args[1] + "/" + args[2])
	}
	say("ready")
	if _, err := (millrace.Executor{Observe: tellPhases}).Recover(context.Background(), fsys); err != nil {
		return err
	}
	say("done")
	return nil
}

// playRestore restores a backup. The further arguments are a file at whose change it kills itself, or a phase and the
// microseconds after which it does: a process keeps time better for its own kill than another process can.
func playRestore(args []string) error {
	fsys, err := open(args[0], args[1])
	if err != nil {
		return err
	}
	x := millrace.Executor{}
	if len(args) == 4 {
		go dieAtSightOf(args[1] + "/" + args[3])
	}
	if len(args) > 4 {
		after, err := strconv.Atoi(args[4])
		if err != nil {
			return err
		}
		x.Observe = func(e millrace.Event) {
			if e == (millrace.CommitPhase{Phase: args[3]}) {
				go func() { pause(time.Duration(after) * time.Microsecond); die() }()
			}
		}
	}
	say("ready")
	if _, err := x.Restore(context.Background(), fsys, args[2]); err != nil {
		return err
	}
	say("done")
	return nil
}

// interrupt starts a process and kills it a little after it is ready, unless it kills itself, for which longest is
// zero. It reports whether the process had finished.
func interrupt(rnd *rand.Rand, longest time.Duration, role string, args ...string) (bool, error) {
	v, err := start(role, args...)
	if err != nil {
		return false, err
	}
	done := false
	see := func(line string) { done = done || line == "done" }
	alive := v.await("ready", 1, see)
	if longest == 0 {
		_ = v.drain(see) // it kills itself, or finishes
	} else {
		if alive {
			pause(time.Duration(rnd.Int64N(int64(longest))))
		}
		v.kill(see)
	}
	if v.stderr.Len() > 0 {
		err = errors.New(strings.TrimSpace(v.stderr.String()))
	}
	return done, err
}

// TestKill9_recovery kills a process in the middle of a commit, and then several others in the middle of undoing it: in
// the end the tree is the old one.
func TestKill9_recovery(t *testing.T) {
	t.Parallel()
	seen := killUntil(t, recoverKilled, "transactions left over", "recoveries killed", "half recovered")
	if left := seen.get("transactions left over"); left < seen.get("runs") {
		t.Errorf("%d runs left %d transactions over", seen.get("runs"), left)
	}
}

// killUntil kills in many runs, and continues until all wanted cases were seen: the moments that are hit depend on the
// speed and load of the machine.
func killUntil(t *testing.T, kill func(run int, dir string, seen *counters) error, wanted ...string) *counters {
	var seen counters
	runs := fstest.Runs(5, 100, 500)
	missing := func() bool {
		return slices.ContainsFunc(wanted, func(name string) bool { return seen.get(name) == 0 })
	}
	for round := 0; round == 0 || runs >= 50 && round < 10 && missing(); round++ {
		parallel(t, runs, func(run int) error {
			seen.add("runs", 1)
			return kill(round*runs+run, fstest.TempDir(t), &seen)
		})
	}
	if runs >= 50 && missing() {
		t.Errorf("the kills come at the wrong moments: %v", seen.n)
	}
	fstest.Countf(t, "%v", seen.n)
	return &seen
}

func recoverKilled(run int, dir string, seen *counters) error {
	rnd := rand.New(rand.NewPCG(92, uint64(run)))
	kind := []string{"root", "base"}[run%2]
	if err := plant(dir, generation(0, false)); err != nil {
		return err
	}
	v, err := start("half", kind, dir)
	if err != nil {
		return err
	}
	if rnd.IntN(2) == 0 {
		v.await("phase apply", 1, func(string) {})
		pause(time.Duration(rnd.IntN(1000)) * time.Microsecond)
		v.kill(func(string) {})
	} else if err := v.drain(func(string) {}); err != nil && v.stderr.Len() > 0 {
		return err
	}
	left, _ := os.ReadDir(dir + "/" + stateDir + "/tx")
	seen.add("transactions left over", len(left))
	for range 1 + rnd.IntN(4) {
		args, longest := []string{kind, dir}, 8*time.Millisecond
		if rnd.IntN(2) == 0 {
			args, longest = append(args, editedName(rnd.IntN(edited))), 0
		}
		done, err := interrupt(rnd, longest, "recover", args...)
		if err != nil {
			return err
		}
		if done {
			seen.add("recoveries not interrupted", 1)
		} else {
			seen.add("recoveries killed", 1)
		}
	}
	return checkRecovered(kind, dir, seen, 0, 0)
}

// checkRecovered finishes a recovery and checks that the tree is one generation.
func checkRecovered(kind, dir string, seen *counters, from, to int) error {
	fsys, err := open(kind, dir)
	if err != nil {
		return err
	}
	if _, err := whichGeneration(dir, false); err != nil {
		seen.add("half recovered", 1)
	}
	if _, err := (millrace.Executor{}).Recover(context.Background(), fsys); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	g, err := whichGeneration(dir, false)
	if err == nil && (g < from || g > to) {
		err = fmt.Errorf("the tree has generation %d, want %d to %d", g, from, to)
	}
	seen.add(fmt.Sprint("generation ", g), 1)
	return errors.Join(err, litter(dir, false))
}

// TestKill9_restore kills processes that restore a backup: the tree is entirely restored or not at all, and can be
// restored afterwards.
func TestKill9_restore(t *testing.T) {
	t.Parallel()
	killUntil(t, restoreKilled, "generation 0", "generation 1", "half recovered")
}

func restoreKilled(run int, dir string, seen *counters) error {
	rnd := rand.New(rand.NewPCG(93, uint64(run)))
	kind := []string{"root", "base"}[run%2]
	if err := plant(dir, generation(0, false)); err != nil {
		return err
	}
	fsys, err := open(kind, dir)
	if err != nil {
		return err
	}
	p, err := advance(0, false)
	if err != nil {
		return err
	}
	ctx := context.Background()
	res, err := millrace.Run(ctx, fsys, p)
	if err != nil {
		return err
	}
	oldest := 1
	for range 1 + rnd.IntN(3) {
		args := []string{kind, dir, res.BackupID}
		longest := 25 * time.Millisecond
		// A restore mostly reads and makes copies. A kill matters where it changes the tree.
		switch rnd.IntN(4) {
		case 0, 1:
			args, longest = append(args, editedName(rnd.IntN(edited))), 0
		case 2:
			args, longest = append(args, []string{"apply", "sync", "commit"}[rnd.IntN(3)], strconv.Itoa(rnd.IntN(1000))), 0
		}
		done, err := interrupt(rnd, longest, "restore", args...)
		if err != nil {
			// An earlier one may have finished after all. Then this one found a restored tree.
			if g, gerr := whichGeneration(dir, false); g != 0 || gerr != nil {
				return errors.Join(err, gerr)
			}
			done = true
		}
		if done {
			seen.add("restores not interrupted", 1)
			oldest = 0
			break
		}
		seen.add("restores killed", 1)
	}
	if err := checkRecovered(kind, dir, seen, 0, oldest); err != nil {
		return err
	}
	if g, _ := whichGeneration(dir, false); g == 1 {
		if _, err := (millrace.Executor{}).Restore(ctx, fsys, res.BackupID); err != nil {
			return err
		}
	}
	return checkRecovered(kind, dir, seen, 0, 0)
}
