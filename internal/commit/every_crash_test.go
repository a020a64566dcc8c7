package commit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// losses are fractions of unsynced data that a crash loses. The first stands for a killed process, which loses nothing.
var losses = [...]float64{-1, 0, 0.1, 0.5, 0.9, 1}

func crash(disk *crashfs.Fs, rnd *rand.Rand, loss float64) *crashfs.Fs {
	if loss < 0 {
		return disk.Kill()
	}
	return disk.PowerCut(rnd, loss)
}

// moment is the disk right before a changing operation.
type moment struct {
	disk *crashfs.Fs
	op   crashfs.Op
}

// moments runs a story and returns all of its moments, including the final one, and the new tree.
func (s *story) moments() (list []moment, newer string, err error) {
	disk := s.disk.Kill()
	disk.Before(func(op crashfs.Op) error {
		if op.Writes {
			list = append(list, moment{disk.Kill(), op})
		}
		return nil
	})
	rep, err := commit.Apply(bg, s.on(disk), s.changes)
	if err != nil {
		return nil, "", fmt.Errorf("apply: %w", err)
	}
	if !rep.Committed || rep.Guarantee != commit.PowerLoss {
		return nil, "", fmt.Errorf("report: %+v", rep)
	}
	return append(list, moment{disk.Kill(), crashfs.Op{Name: "end"}}), disk.Listing(stateDir), nil
}

// recoverAmid recovers a disk, and crashes up to four times during that.
func (s *story) recoverAmid(disk *crashfs.Fs, rnd *rand.Rand) (*crashfs.Fs, int, error) {
	crashes := 0
	for range rnd.IntN(5) {
		var left *crashfs.Fs
		writes, at := 0, 1+rnd.IntN(40)
		now := disk
		now.Before(func(op crashfs.Op) error {
			if op.Writes {
				writes++
			}
			if writes < at {
				return nil
			}
			if left == nil {
				left = now.Kill()
			}
			return errKilled
		})
		_, err := commit.Recover(bg, s.on(now))
		if left == nil {
			now.Before(nil)
			if err != nil {
				return nil, crashes, fmt.Errorf("recover: %w", err)
			}
			break
		}
		crashes++
		disk = crash(left, rnd, losses[rnd.IntN(len(losses))])
	}
	disk.Before(nil)
	if _, err := commit.Recover(bg, s.on(disk)); err != nil {
		return nil, crashes, fmt.Errorf("recover: %w", err)
	}
	return disk, crashes, nil
}

// tally counts the outcomes.
type tally struct {
	runs, nested, olds, news atomic.Int64
}

// settle recovers a crashed disk, with crashes during recovery, and checks the result, also after another power cut.
func (s *story) settle(disk *crashfs.Fs, newer string, rnd *rand.Rand, count *tally) (ending, error) {
	disk, crashes, err := s.recoverAmid(disk, rnd)
	if err != nil {
		return "", err
	}
	end, err := s.ending(disk, newer)
	if err != nil {
		return "", err
	}
	later := disk.PowerCut(rnd, losses[1+rnd.IntN(len(losses)-1)])
	if _, err := commit.Recover(bg, s.on(later)); err != nil {
		return "", fmt.Errorf("recover after a later power cut: %w", err)
	}
	again, err := s.ending(later, newer)
	if err != nil {
		return "", fmt.Errorf("after a later power cut: %w", err)
	}
	if again != end {
		return "", fmt.Errorf("recovered to the %s tree, which became %s in a power cut later", end, again)
	}
	if err := s.forgotten(disk, rnd); err != nil {
		return "", err
	}
	count.runs.Add(1)
	count.nested.Add(int64(crashes))
	if end == isOld {
		count.olds.Add(1)
	} else {
		count.news.Add(1)
	}
	return end, nil
}

// forgotten checks that a power cut restores nothing of a settled transaction, even if another program writes to a path
// first.
func (s *story) forgotten(disk *crashfs.Fs, rnd *rand.Rand) error {
	if !foreignWrite(disk, s.changes[rnd.IntN(len(s.changes))].Path, rnd.IntN(2) == 0) {
		return nil
	}
	disk = disk.PowerCut(rnd, losses[1+rnd.IntN(len(losses)-1)])
	if _, err := commit.Recover(bg, s.on(disk)); err != nil {
		return fmt.Errorf("recover after another program has written: %w", err)
	}
	return nil
}

// sweep crashes a story at every moment in every way.
func (s *story) sweep(count *tally) error {
	moments, newer, err := s.moments()
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(s.number, 99))
	for _, m := range moments {
		for _, loss := range losses {
			end, err := s.settle(crash(m.disk, rnd, loss), newer, rnd, count)
			if err == nil && m.op.Name == "end" && end != isNew {
				err = errors.New("committed, and lost")
			}
			if err != nil {
				return fmt.Errorf("story %d, crash before operation %d, %s %s, loss %v: %w", s.number, m.op.N, m.op.Name, m.op.Path, loss, err)
			}
		}
	}
	return nil
}

// TestCrash is the most important test: after a crash at any moment, with any loss of unsynced data, the tree is old or
// new. It must be new once Apply has reported that, and nothing is left over.
func TestCrash(t *testing.T) {
	t.Parallel()
	var count tally
	t.Cleanup(func() {
		fstest.Countf(t, "%d crashes, and %d more in recovery: %d times old, %d times new", count.runs.Load(), count.nested.Load(), count.olds.Load(), count.news.Load())
	})
	eachStory(t, stories(fstest.Slowed(10, fstest.Runs(32, 450, 6000))), func(t *testing.T, number uint64) {
		if err := newStory(t, number).sweep(&count); err != nil {
			t.Error(err)
		}
	})
}
