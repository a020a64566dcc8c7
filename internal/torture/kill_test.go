package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// phases returns the phases that a commit reports.
func phases() []string {
	return []string{"verify", "stage", "backup", "journal", "apply", "sync", "commit", "clean"}
}

// tellPhases makes a process print the phases of its commits.
func tellPhases(e millrace.Event) {
	if p, ok := e.(millrace.CommitPhase); ok {
		say("phase %s", p.Phase)
	}
}

// playGenerations goes from generation to generation until it is killed, and prints each: args are the kind of file
// system, the directory, and words.
func playGenerations(args []string) error {
	fsys, err := open(args[0], args[1])
	if err != nil {
		return err
	}
	lean := slices.Contains(args, "lean")
	g, err := whichGeneration(args[1], lean)
	if err != nil {
		return err
	}
	x := millrace.Executor{State: millrace.State{NoSync: slices.Contains(args, "nosync")}, Observe: tellPhases}
	say("ready")
	for ; ; g++ {
		p, err := advance(g, lean)
		if err != nil {
			return err
		}
		if _, err := x.Run(context.Background(), fsys, p); err != nil {
			return err
		}
		say("ack %d", g+1)
	}
}

// playNaive works like most programs: it writes a temporary file for each file, renames it over that file, and prints
// it. It omits the rest of the generation.
func playNaive(args []string) error {
	say("ready")
	for g := 1; ; g++ {
		for i := range edited {
			name := filepath.Join(args[0], editedName(i))
			if err := os.WriteFile(name+"~", []byte(lines(i, g)), 0o644); err != nil {
				return err
			}
			if err := os.Rename(name+"~", name); err != nil {
				return err
			}
			say("file %d", i)
		}
	}
}

// strike lets a process live up to a random moment and kills it. It returns the last acknowledged generation, 0 if
// the process acknowledged none.
func strike(v *process, rnd *rand.Rand) (int, error) {
	acked := 0
	see := func(line string) {
		if n, ok := strings.CutPrefix(line, "ack "); ok {
			acked, _ = strconv.Atoi(n)
		}
	}
	alive := v.await("ready", 1, see)
	if alive && rnd.IntN(3) == 0 {
		pause(time.Duration(1+rnd.IntN(60)) * time.Millisecond)
	} else if alive {
		// A moment within a phase of a commit, or soon after it.
		alive = v.await("phase "+phases()[rnd.IntN(len(phases()))], 1+rnd.IntN(3), see)
		pause(time.Duration(rnd.IntN(1500)) * time.Microsecond)
	}
	v.kill(see)
	if !alive {
		return acked, fmt.Errorf("the victim ended without a kill: %s", &v.stderr)
	}
	return acked, nil
}

// TestKill9 kills real processes at random moments: after recovery the whole tree is one generation, not older than the
// last acknowledged one, and nothing is left over.
func TestKill9(t *testing.T) {
	t.Parallel()
	for _, sync := range []string{"sync", "nosync"} {
		t.Run(sync, func(t *testing.T) {
			t.Parallel()
			runs := fstest.Runs(5, 100, 1000)
			var seen counters
			kill := func(run int) error {
				rnd := rand.New(rand.NewPCG(9, uint64(run)))
				dir := ""
				if sync == "sync" {
					dir = t.TempDir()
				} else {
					dir = fstest.TempDir(t)
				}
				return killOnce(dir, []string{"root", "base"}[run%2], sync, []string{"keep", "lean"}[run/2%2], rnd, &seen)
			}
			caught := func() bool { return seen.get("rolled back") > 0 && seen.get("finished") > 0 }
			parallel(t, runs, kill)
			// The moments that are hit depend on the load of the machine: a few in a hundred are after the commit mark.
			for more := 1; runs >= 50 && more < 5 && !caught(); more++ {
				parallel(t, runs, func(run int) error { return kill(more*runs + run) })
			}
			if runs >= 50 && !caught() {
				t.Errorf("no commit was caught in the act: %v", seen.n)
			}
			fstest.Countf(t, "%d processes killed: %v", runs, seen.n)
		})
	}
}

func killOnce(dir, kind, sync, words string, rnd *rand.Rand, seen *counters) error {
	lean := words == "lean"
	if err := plant(dir, generation(0, lean)); err != nil {
		return err
	}
	v, err := start("generations", kind, dir, sync, words)
	if err != nil {
		return err
	}
	acked, err := strike(v, rnd)
	if err != nil {
		return err
	}
	fsys, err := open(kind, dir)
	if err != nil {
		return err
	}
	x := millrace.Executor{}
	r, err := x.Recover(context.Background(), fsys)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	seen.add("rolled back", len(r.RolledBack))
	seen.add("finished", len(r.Finished))
	seen.add("generations", acked)
	g, err := whichGeneration(dir, lean)
	if err != nil {
		return err
	}
	if g < acked || g > acked+1 {
		return fmt.Errorf("generation %d was acknowledged, the tree has %d", acked, g)
	}
	if err := litter(dir, lean); err != nil {
		return err
	}
	backups, err := x.ListBackups(context.Background(), fsys)
	for _, b := range backups {
		if err == nil {
			err = b.Err
		}
	}
	return err
}

// TestKill9_control does the same to a process that works without millrace: if that never left a mixed tree, the test
// above would prove nothing.
func TestKill9_control(t *testing.T) {
	t.Parallel()
	var seen counters
	runs := fstest.Runs(5, 20, 100)
	parallel(t, runs, func(run int) error {
		rnd := rand.New(rand.NewPCG(9, uint64(run)))
		dir := fstest.TempDir(t)
		if err := plant(dir, generation(0, false)); err != nil {
			return err
		}
		v, err := start("naive", dir)
		if err != nil {
			return err
		}
		// If the victim pauses after its message, it is killed right there: between the files.
		alive := v.await(fmt.Sprintf("file %d", rnd.IntN(edited)), 1+rnd.IntN(3), func(string) {})
		pause(time.Duration(rnd.IntN(1500)) * time.Microsecond)
		v.kill(func(string) {})
		if !alive {
			return fmt.Errorf("the victim ended without a kill: %s", &v.stderr)
		}
		tree, err := read(dir)
		if err != nil {
			return err
		}
		generations := make(map[string]bool)
		for i := range edited {
			text, _, _ := strings.Cut(tree[editedName(i)], " of file")
			generations[text] = true
		}
		if len(generations) > 1 {
			seen.add("mixed", 1)
		}
		return nil
	})
	if seen.get("mixed") == 0 {
		t.Errorf("none of %d trees is mixed: the kills come at the wrong moments", runs)
	}
	fstest.Countf(t, "%d processes that write and rename killed: %d mixed trees", runs, seen.get("mixed"))
}
