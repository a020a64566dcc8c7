package rundir_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// life is a process that works on the run of a disk, with the disk at its death, or at the end.
type life struct {
	disk  *crashfs.Fs
	posts int // that it had made by then
	ended bool
	asked bool // the command has run, or its answer was replayed
	run   runs.Run
}

// live runs a process that works on the run. It dies before the operation number die on the disk, counted from the
// start, or with afterAsk from the end of the command.
func live(t *testing.T, disk *crashfs.Fs, scratch, shared, verb string, die int, afterAsk bool) life {
	t.Helper()
	l, c := life{ended: true}, new(counts)
	var mu sync.Mutex // operations may be concurrent
	c.told = func(e millrace.Event) {
		if e, ok := e.(millrace.StepFinished); ok && e.Step == "ask" {
			mu.Lock()
			defer mu.Unlock()
			l.asked = l.asked || l.ended
			afterAsk = false
		}
	}
	disk.Before(func(op crashfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if !afterAsk {
			die--
		}
		if op.Writes && die <= 0 && l.ended {
			l.disk, l.ended = disk.Kill(), false
			l.posts, _ = c.now()
		}
		return nil
	})
	m := storeOn(t, disk, c.host(t, disk, scratch), shared)
	if verb == "create" {
		create(t, m, takenUp)
	}
	l.run, _ = takeUp(t, m, c, disk, scratch, shared, verb)
	disk.Before(nil)
	if l.ended {
		l.disk = disk
		l.posts, _ = c.now()
	}
	return l
}

// hasRun reports whether the run is on the disk.
func hasRun(t *testing.T, disk *crashfs.Fs) bool {
	t.Helper()
	s, err := rundir.Open(disk, "", rundir.Options{Key: key})
	fstest.Must(t, err)
	page, err := s.List(t.Context(), runs.Filter{})
	fstest.Must(t, err)
	return len(page.Items) > 0
}

// The same at random: a process dies before any of its operations on the disk, others resume the run by any verb and
// may die too, and another program writes to any file between them.
func TestTakenUpAtRandom(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its command is one of a POSIX shell")
	}
	random := rand.New(rand.NewPCG(fstest.Seed(t), 0))
	scratch, shared := t.TempDir(), filepath.Join(t.TempDir(), "shared")
	names := []string{"a.txt", "dep.txt", "dep.txt", "d/b.txt", "d/k.txt", "g.txt", "c.txt"}
	verbs := []string{"retry", "resume", "resume ask", "resume post", "adopt"}
	lives, died, ended, succeeded := 0, 0, 0, 0
	for n := range fstest.Runs(60, 1_000, 10_000) {
		disk, posts, allowed := newDisk(t), 0, 1
		dep := ""                          // the text of dep.txt at the last end of the command, or replay of its answer
		written := make(map[string]string) // by the other program, the last of each file
		var told []string
		verb := "create"
		for left := 1 + random.IntN(5); left >= 0; left-- {
			die, afterAsk := 1+random.IntN(1_500), false
			if random.IntN(2) == 0 {
				die, afterAsk = 1+random.IntN(20), true // few operations: the answer is on record, but not yet in a checkpoint
			}
			if left == 0 {
				die = math.MaxInt // the last one lives
			}
			before := files(t, disk)
			l := live(t, disk, scratch, shared, verb, die, afterAsk)
			lives++
			if l.asked {
				dep = before["dep.txt"]
			}
			if !l.ended {
				died++
			}
			posts += l.posts
			if verb == "resume post" {
				allowed++ // a person has approved
			}
			told = append(told, fmt.Sprintf("%s (died %v, %d posts): %s %s", verb, !l.ended, l.posts, l.run.Status,
				l.run.Reason))
			after := files(t, l.disk)
			if posts > allowed {
				t.Fatalf("run %d has acted %d times outside, %d were allowed:\n%s", n, posts, allowed, strings.Join(told, "\n"))
			}
			if l.ended && l.run.Status == runs.Success {
				if succeeded++; after["out.txt"] != dep {
					t.Fatalf("run %d: out.txt is %q, the command read %q:\n%s", n, after["out.txt"], dep, strings.Join(told, "\n"))
				}
			}
			all := fmt.Sprint(after)
			for name, text := range written {
				if l.ended && !strings.Contains(all, text) {
					t.Fatalf("run %d: %q in %s is lost:\n%s\n%s", n, text, name, all, strings.Join(told, "\n"))
				}
			}
			if l.ended && l.run.Status.Final() {
				ended++
				break
			}
			if disk = l.disk; !hasRun(t, disk) {
				break
			}
			verb = verbs[random.IntN(len(verbs))]
			if name := names[random.IntN(len(names))]; afterAsk || random.IntN(2) == 0 {
				text := fmt.Sprintf("LATE %d", len(told))
				here := files(t, disk)[name] // the run may have renamed a file of the other program to this one
				maps.DeleteFunc(written, func(_, late string) bool { return strings.Contains(here, late+"\n") })
				fstest.Must(t, afero.WriteFile(disk, name, []byte("one\n"+text+"\n"), 0o644))
				written[name] = text
				told = append(told, "another program writes "+name)
			}
		}
	}
	fstest.Countf(t, "%d lives, %d of them killed, %d runs that ended, %d of them with success", lives, died, ended, succeeded)
}
