package commit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

const forEver = 1 << 30

// fault is a disk that fails a number of times, starting at one operation, while the process lives.
type fault struct {
	errno syscall.Errno
	times int
	from  int // operation
	crash int // operations after it until the process is also killed; 0 for never
	loss  float64
}

func drawFault(rnd *rand.Rand, from int) fault {
	f := fault{
		errno: []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EACCES, syscall.EXDEV, syscall.EMFILE}[rnd.IntN(5)],
		times: []int{1, 1, 2, 3, forEver}[rnd.IntN(5)],
		from:  from,
		loss:  losses[rnd.IntN(len(losses))],
	}
	if rnd.IntN(4) == 0 {
		f.crash = 1 + rnd.IntN(60)
	}
	return f
}

// operations returns the number of operations of a story.
func operations(t *testing.T, s *story) int {
	t.Helper()
	disk := s.disk.Kill()
	disk.Before(nil)
	if _, err := commit.Apply(bg, s.on(disk), s.changes); err != nil {
		t.Fatal(err)
	}
	return disk.Count()
}

// suffer runs the story on a disk with a fault, and then finishes on one without.
func (s *story) suffer(f fault, rnd *rand.Rand, count *faultTally) error {
	// If nothing can be linked or renamed, copies are made.
	s.copies = f.errno == syscall.EXDEV
	disk := s.disk.Kill()
	failed, first := 0, crashfs.Op{}
	mounted, lost := disk.MountPoints(), false
	var left *crashfs.Fs
	disk.Before(func(op crashfs.Op) error {
		switch {
		case op.N < f.from:
			return nil
		case f.crash > 0 && op.N >= f.from+f.crash:
			if left == nil {
				left = disk.Kill()
			}
			return errKilled
		case failed >= f.times || f.errno == syscall.EXDEV && !crosses(op):
			return nil
		}
		if failed++; failed == 1 {
			first = op
		}
		lost = lost || op.Name == "sync" && slices.Contains(mounted, op.Path)
		return f.errno
	})
	rep, aerr := commit.Apply(bg, s.on(disk), s.changes)
	disk.Before(nil)
	if failed == 0 {
		return nil
	}
	count.runs.Add(1)
	// A file that cannot be synced for lack of permission causes a warning. A mount point has no other inode to sync.
	certain := (f.errno != syscall.EACCES || len(rep.Warnings) == 0) && !lost
	what := fmt.Sprintf("story %d, %v %d times from operation %d, %s %s: %v", s.number, f.errno, f.times, f.from, first.Name, first.Path, aerr)
	if left != nil {
		count.crashes.Add(1)
		disk = crash(left, rnd, f.loss)
		if !certain {
			_, err := commit.Recover(bg, s.on(disk))
			return wrap(what+", then crashed", err)
		}
		return wrap(what+", then crashed", s.finish(disk, rnd, certain, nil))
	}
	if err := s.checkReport(f, rep, aerr, disk); err != nil {
		return wrap(what, err)
	}
	count.note(rep, aerr)
	return wrap(what, s.finish(disk, rnd, certain, func(end ending) error {
		switch {
		case errors.Is(aerr, commit.ErrIndeterminate):
		case aerr != nil && end == isNew:
			return errors.New("failed, but the tree is new")
		case aerr == nil && end == isOld:
			return errors.New("committed, but the tree is old")
		}
		return nil
	}))
}

// crosses reports whether an operation may lead to another mount.
func crosses(op crashfs.Op) bool {
	return op.Name == "rename" || op.Name == "exchange" || op.Name == "link"
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// checkReport checks the report right after the failure.
func (s *story) checkReport(f fault, rep commit.Report, err error, disk *crashfs.Fs) error {
	_, broken := errors.AsType[*commit.RollbackError](err)
	_, conflict := errors.AsType[*commit.Conflict](err)
	switch {
	// After an unsupported operation the caller uses another method.
	case err == nil && len(rep.Warnings) == 0 && f.errno != syscall.EXDEV:
		return errors.New("there is no error and no warning")
	case err == nil && !rep.Committed, err != nil && rep.Committed:
		return fmt.Errorf("committed: %v", rep.Committed)
	case err != nil && !conflict && !errors.Is(err, f.errno):
		return errors.New("the cause is lost")
	case broken && !errors.Is(err, commit.ErrRecoveryRequired):
		return errors.New("rolled back with a conflict, though nobody else was there")
	case rep.RolledBack && s.listing(disk) != s.strip(s.old):
		return fmt.Errorf("reported as rolled back, but is\n%sinstead of\n%s", disk.Listing(stateDir), s.old)
	}
	return nil
}

// finish recovers without faults and checks the tree, also after a power cut if it must be safe from one.
func (s *story) finish(disk *crashfs.Fs, rnd *rand.Rand, certain bool, check func(ending) error) error {
	if _, err := commit.Recover(bg, s.on(disk)); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	end, err := s.ending(disk, "")
	if err == nil && check != nil {
		err = check(end)
	}
	if err != nil || !certain {
		return err
	}
	later := disk.PowerCut(rnd, losses[1+rnd.IntN(len(losses)-1)])
	if _, err := commit.Recover(bg, s.on(later)); err != nil {
		return fmt.Errorf("recover after a power cut: %w", err)
	}
	again, err := s.ending(later, "")
	if err != nil {
		return fmt.Errorf("after a power cut: %w", err)
	}
	if again != end || s.listing(later) != s.listing(disk) {
		return fmt.Errorf("the tree was %s, and %s after a power cut later:\n%sinstead of\n%s", end, again, s.listing(later), s.listing(disk))
	}
	return nil
}

// faultTally counts the outcomes.
type faultTally struct {
	runs, crashes, rolledBack, pending, unknown, survived atomic.Int64
}

func (c *faultTally) note(rep commit.Report, err error) {
	switch {
	case err == nil:
		c.survived.Add(1)
	case rep.RolledBack:
		c.rolledBack.Add(1)
	case errors.Is(err, commit.ErrIndeterminate):
		c.unknown.Add(1)
	case errors.Is(err, commit.ErrRecoveryRequired):
		c.pending.Add(1)
	}
}

// TestFaults makes every operation fail, once, several times, or from then on. The tree is old or new; the report about
// it is true, also after a power cut; and the next start finishes the rest.
func TestFaults(t *testing.T) {
	t.Parallel()
	var count faultTally
	t.Cleanup(func() {
		fstest.Countf(t, "%d faults, %d with a crash afterwards: %d times rolled back at once, %d times left for the next start, %d times not known whether committed, %d times committed all the same",
			count.runs.Load(), count.crashes.Load(), count.rolledBack.Load(), count.pending.Load(), count.unknown.Load(), count.survived.Load())
	})
	eachStory(t, stories(fstest.Slowed(4, fstest.Runs(24, 220, 2500))), func(t *testing.T, number uint64) {
		s := newStory(t, number)
		rnd := rand.New(rand.NewPCG(number, 77))
		for from := range operations(t, s) {
			for range 4 {
				err := s.suffer(drawFault(rnd, from+1), rnd, &count)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
