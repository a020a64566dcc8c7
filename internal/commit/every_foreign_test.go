package commit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
)

// visit is another program that saves a file during a story, and the later events.
type visit struct {
	at      int // the operation before which it comes
	name    string
	inPlace bool // else it writes another file and renames it
	failAt  int  // operation that fails, so that the commit is being undone; 0 for none
	killAt  int  // operation at which the process is killed; 0 for none
}

func drawVisit(rnd *rand.Rand, at int, names []string) visit {
	v := visit{at: at, name: names[rnd.IntN(len(names))], inPlace: rnd.IntN(2) == 0}
	switch rnd.IntN(3) {
	case 1:
		v.killAt = at + 1 + rnd.IntN(40)
	case 2:
		v.failAt = at - 1 - rnd.IntN(60)
	}
	return v
}

// meet runs the story with a visit, and recovers. It returns whether the other program could write, whether the commit
// or the recovery reported a conflict, and the disk.
func (s *story) meet(v visit) (wrote, told bool, left *crashfs.Fs, err error) {
	disk := s.disk.Kill()
	disk.Before(func(op crashfs.Op) error {
		if op.N == v.at {
			wrote = foreignWrite(disk.Unwatched(), v.name, v.inPlace)
		}
		if v.killAt > 0 && op.N >= v.killAt || op.N == v.failAt {
			return errKilled
		}
		return nil
	})
	_, aerr := commit.Apply(bg, s.on(disk), s.changes)
	disk.Before(nil)
	_, rerr := commit.Recover(bg, s.on(disk))
	if _, conflict := errors.AsType[*commit.RollbackConflict](rerr); rerr != nil && !conflict {
		return wrote, true, disk, fmt.Errorf("recover: %w", rerr)
	}
	return wrote, aerr != nil || rerr != nil, disk, nil
}

// lines returns a listing by path, without inode numbers and times, which another program changes.
func lines(listing string) map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(listing) {
		name, rest, _ := strings.Cut(line, " ")
		if at := strings.LastIndexByte(rest, '"'); at >= 0 {
			rest = rest[:at+1]
		} else if to, isLink := strings.CutPrefix(rest, "-> "); isLink {
			rest, _, _ = strings.Cut(to, " ")
		}
		m[strings.TrimSuffix(name, "/")] = rest
	}
	return m
}

// foreignSpots returns where the bytes of the other program are: in the tree, or where conflicts are kept. A backup
// does not count, because nobody looks there.
func foreignSpots(disk *crashfs.Fs) []string {
	var spots []string
	for name, line := range lines(disk.Listing("")) {
		inState := names.Within(name, stateDir) && !names.Within(name, stateDir+"/conflicts")
		if strings.Contains(line, foreignText) && !inState {
			spots = append(spots, name)
		}
	}
	return spots
}

// twins returns the other names of a file in a listing.
func twins(listing, name string) []string {
	inode := make(map[string]string)
	for line := range strings.Lines(listing) {
		if at := strings.LastIndex(line, " #"); at >= 0 {
			number, _, _ := strings.Cut(strings.TrimSpace(line[at:]), " ")
			inode[line[:strings.IndexByte(line, ' ')]] = number
		}
	}
	var found []string
	for other, number := range inode {
		if other != name && number == inode[name] {
			found = append(found, other)
		}
	}
	return found
}

// bytesIn returns the part of a listing's line that describes bytes.
func bytesIn(line string) string { return line[strings.IndexByte(line, '"')+1:] }

// checkOthers checks that everything the other program did not touch is old, or all of it new. For the names in twins
// only the bytes count.
func (s *story) checkOthers(disk *crashfs.Fs, newer string, touched, twins []string) error {
	is := lines(disk.Listing(stateDir))
	differing := func(want map[string]string) []string {
		var bad []string
		for _, m := range []map[string]string{is, want} {
			for name := range m {
				near := func(spot string) bool { return names.Within(name, spot) || names.Within(spot, name) }
				if slices.Contains(twins, name) && is[name] != "" && bytesIn(is[name]) == bytesIn(want[name]) {
					continue
				}
				if is[name] != want[name] && !slices.ContainsFunc(touched, near) {
					bad = append(bad, name)
				}
			}
		}
		return bad
	}
	if fromOld, fromNew := differing(lines(s.old)), differing(lines(newer)); len(fromOld) > 0 && len(fromNew) > 0 {
		return fmt.Errorf("%v are not old, and %v are not new", fromOld, fromNew)
	}
	return nil
}

// foreignTally counts the outcomes.
type foreignTally struct {
	runs, told, lost atomic.Int64
	overwritten      atomic.Int64 // at mount points: a save during an overwrite cannot be kept
}

// eachVisit has another program come before each operation of a story. The error of the first failed run ends it; a
// loss is only counted.
func (s *story) eachVisit(total, each int, count *foreignTally) error {
	_, newer, err := s.moments()
	if err != nil {
		return err
	}
	var names []string
	for name := range lines(s.old) {
		names = append(names, name)
	}
	for name := range lines(newer) {
		names = append(names, name, name+"/foreign")
	}
	slices.Sort(names)
	rnd := rand.New(rand.NewPCG(s.number, 55))
	for at := range total {
		for range each {
			v := drawVisit(rnd, at+1, names)
			wrote, told, disk, err := s.meet(v)
			if wrote {
				count.runs.Add(1)
			}
			if told {
				count.told.Add(1)
			}
			spots := foreignSpots(disk)
			switch {
			case err != nil:
			case wrote && len(spots) == 0 && slices.Contains(s.disk.MountPoints(), v.name):
				count.overwritten.Add(1)
			case wrote && len(spots) == 0:
				count.lost.Add(1)
			default:
				var unreachable []string
				if told && !v.inPlace {
					// Its mode may have been changed through the name that the other program removed: then it cannot be found to
					// change it back, and the result must report that.
					unreachable = twins(s.old, v.name)
				}
				err = s.checkOthers(disk, newer, append(spots, v.name), unreachable)
			}
			if err != nil {
				return fmt.Errorf("story %d, %+v: %w", s.number, v, err)
			}
		}
	}
	return nil
}

// TestForeign has another program save a file before each operation of a commit, of an undo, and of a commit that is
// killed and recovered. Its bytes must not be lost, and everything else must be old or new. Without the exchange of
// files that cannot be promised, and this test must detect the loss.
func TestForeign(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, list []uint64, without crashfs.Ability, count *foreignTally) {
		t.Helper()
		eachStory(t, list, func(t *testing.T, number uint64) {
			s := newStory(t, number)
			if s.disk.Lacks() != 0 {
				return
			}
			s.disk.Without(without)
			if err := s.eachVisit(operations(t, s), 4, count); err != nil {
				t.Error(err)
			}
		})
	}
	var with, control foreignTally
	t.Cleanup(func() {
		fstest.Countf(t, "%d saves, %d reported; %d lost, and %d at mount points",
			with.runs.Load(), with.told.Load(), with.lost.Load(), with.overwritten.Load())
		fstest.Countf(t, "without exchange: %d saves, %d lost", control.runs.Load(), control.lost.Load())
		if with.lost.Load() > 0 || with.told.Load() == 0 {
			t.Error("a text is lost, or no run has reported a conflict")
		}
		if control.lost.Load() == 0 {
			t.Error("nothing was lost without exchange: this test detects nothing")
		}
	})
	t.Run("exchange", func(t *testing.T) {
		t.Parallel()
		run(t, stories(fstest.Slowed(4, fstest.Runs(24, 560, 2500)), 50, 226, 252, 340), 0, &with)
	})
	t.Run("control", func(t *testing.T) {
		t.Parallel()
		run(t, stories(fstest.Slowed(20, fstest.Runs(fstest.ByItself(20, 40), 60, 200))), crashfs.Exchanges|crashfs.NoReplaces, &control)
	})
}
