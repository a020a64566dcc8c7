package millracetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/crashfs"
)

// Tried counts the faults that [Faults] has tried.
type Tried struct {
	// Failures counts the runs in which an operation of the file system failed.
	Failures int
	// Full counts the runs in which the disk was full from some operation on.
	Full int
	// Crashes counts the crashes: of the process, and of the machine with the loss of some unsynced data.
	Crashes int
	// Foreign counts the runs in which another program wrote a file before an operation.
	Foreign int
}

// String returns all numbers.
func (n Tried) String() string {
	return fmt.Sprintf("%d failed operations, %d full disks, %d crashes, %d writes of another program",
		n.Failures, n.Full, n.Crashes, n.Foreign)
}

// Faults runs a pipeline many times on a simulated disk with a copy of the tree of a file system, which itself does not
// change. Each operation on the disk fails once. The disk is full from each operation on that needs space. Before each
// operation that writes, the process is killed, the machine loses its power, or another program writes a file. After a
// recovery the tree must be the tree before the run or the tree after the run, with the same modes. A run with an error
// that has not written, see [millrace.Written], must leave the tree as before the run. A run without an error must
// leave the tree after the run. The file of the other program must stay. Anything else fails the test.
//
// Faults logs and returns how many faults it has tried. The time grows with the square of the number of operations: a
// pipeline of ten files takes some seconds. A pipeline that fails without a fault, or that changes nothing, stops the
// test. The pipeline runs with the zero [millrace.Executor], which has no agents and no commands.
func Faults(t testing.TB, fsys afero.Fs, p millrace.Pipeline) Tried {
	t.Helper()
	x := millrace.Executor{Workers: 1, State: millrace.State{Key: make([]byte, 32)}}
	f := newFaulting(t, fsys,
		func(ctx context.Context, fsys afero.Fs) (*millrace.Result, error) { return x.Run(ctx, fsys, p) },
		func(ctx context.Context, fsys afero.Fs) error {
			_, err := x.Recover(ctx, fsys)
			return err
		})
	f.try(t)
	t.Logf("millracetest: tried %v", f.tried)
	return f.tried
}

// foreignName and foreignText are the name and the bytes of the file that another program writes.
const (
	foreignName = "written-by-another-program.bin"
	foreignText = "\x00 written by another program\n"
)

// losses returns the shares of unsynced data that a crash loses; for a negative number only the process is killed.
func losses() []float64 { return []float64{-1, 0, 0.5, 1} }

// faulting tries the faults of one change of a tree.
type faulting struct {
	disk          *crashfs.Fs
	before, after []entry
	run           func(ctx context.Context, fsys afero.Fs) (*millrace.Result, error)
	recover       func(ctx context.Context, fsys afero.Fs) error
	tried         Tried
}

// newFaulting copies the tree to a disk.
func newFaulting(t testing.TB, fsys afero.Fs, run func(ctx context.Context, fsys afero.Fs) (*millrace.Result, error),
	recover func(ctx context.Context, fsys afero.Fs) error,
) *faulting {
	t.Helper()
	f := &faulting{disk: crashfs.New(), before: exactTree(t, fsys), run: run, recover: recover}
	plant(t, f.disk, f.before)
	f.disk.Settle()
	return f
}

// exactTree returns the entries of a tree for comparisons with exact modes.
func exactTree(t testing.TB, fsys afero.Fs) []entry {
	t.Helper()
	all := readTree(t, fsys, millrace.DefaultStateDir)
	for i := range all {
		all[i].said = true
	}
	return all
}

// try starts with a run without a fault, to learn the operations and the tree after.
func (f *faulting) try(t testing.TB) {
	t.Helper()
	var writes, needRoom []int
	random := rand.New(rand.NewPCG(1, 2)) // the same crashes each time
	disk := f.disk.Kill()
	var crashed []crash
	disk.Before(func(op crashfs.Op) error {
		if needsRoom(op) {
			needRoom = append(needRoom, op.N)
		}
		if op.Writes {
			writes = append(writes, op.N)
			crashed = append(crashed, crash{disk.Kill(), op})
		}
		return nil
	})
	if _, err := f.run(t.Context(), disk); err != nil {
		t.Fatalf("millracetest: the pipeline fails without a fault: %v", err)
	}
	operations := disk.Count()
	disk.Before(nil)
	f.after = exactTree(t, disk)
	if diffEntries(f.before, f.after) == "" {
		t.Fatalf("millracetest: the pipeline changes nothing, so no fault can show anything")
	}
	for n := range operations {
		f.fail(t, n+1)
	}
	for _, n := range needRoom {
		f.fill(t, n)
	}
	for _, n := range writes {
		f.meet(t, n)
	}
	for _, c := range append(crashed, crash{disk: disk, op: crashfs.Op{Name: "end"}}) {
		for _, loss := range losses() {
			f.crash(t, c, random, loss)
		}
	}
}

// crash is the state of a disk before an operation.
type crash struct {
	disk *crashfs.Fs
	op   crashfs.Op
}

// needsRoom reports whether an operation fails on a full disk.
func needsRoom(op crashfs.Op) bool {
	switch op.Name {
	case "create", "write", "mkdir", "link", "symlink":
		return true
	}
	return false
}

// fail runs the pipeline with operation n failing.
func (f *faulting) fail(t testing.TB, n int) {
	t.Helper()
	f.tried.Failures++
	f.suffer(t, func(op crashfs.Op) error {
		if op.N == n {
			return syscall.EIO
		}
		return nil
	})
}

// fill runs the pipeline with a disk that is full from operation n on.
func (f *faulting) fill(t testing.TB, n int) {
	t.Helper()
	f.tried.Full++
	f.suffer(t, func(op crashfs.Op) error {
		if op.N >= n && needsRoom(op) {
			return syscall.ENOSPC
		}
		return nil
	})
}

// suffer runs the pipeline on a disk with a fault and checks the tree.
func (f *faulting) suffer(t testing.TB, fault func(op crashfs.Op) error) {
	t.Helper()
	disk, what := f.disk.Kill(), ""
	disk.Before(func(op crashfs.Op) error {
		err := fault(op)
		if err != nil && what == "" {
			what = fmt.Sprintf("operation %d, %s %s: %v", op.N, op.Name, op.Path, err)
		}
		return err
	})
	_, err := f.run(t.Context(), disk)
	disk.Before(nil)
	f.check(t, what, disk, err)
}

// check recovers the disk after a run that returned, and checks the tree.
func (f *faulting) check(t testing.TB, what string, disk *crashfs.Fs, err error) {
	t.Helper()
	if rerr := f.recover(t.Context(), disk); rerr != nil {
		t.Errorf("%s\nthe run has returned %v, and the recovery fails: %v", what, err, rerr)
		return
	}
	tree := readTree(t, disk, millrace.DefaultStateDir)
	isOld, isNew := diffEntries(f.before, tree) == "", diffEntries(f.after, tree) == ""
	switch {
	case err == nil && !isNew:
		t.Errorf("%s\nthe run has no error, but the tree is not that after the run (-after +now):\n%s",
			what, diffEntries(f.after, tree))
	case err != nil && !millrace.Written(err) && !isOld:
		t.Errorf("%s\nthe run has not written, but the tree is not that before the run: %v (-before +now):\n%s",
			what, err, diffEntries(f.before, tree))
	case !isOld && !isNew:
		t.Errorf("%s\nthe tree is neither that before the run nor that after: %v (-before +now):\n%s",
			what, err, diffEntries(f.before, tree))
	}
}

// crash recovers a disk after a crash and checks the tree.
func (f *faulting) crash(t testing.TB, c crash, random *rand.Rand, loss float64) {
	t.Helper()
	f.tried.Crashes++
	disk, kind := c.disk.Kill(), "the process is killed"
	if loss >= 0 {
		disk = c.disk.PowerCut(random, loss)
		kind = fmt.Sprintf("the power fails, and %.0f%% of what was not synced is lost", 100*loss)
	}
	what := fmt.Sprintf("%s before operation %d, %s %s", kind, c.op.N, c.op.Name, c.op.Path)
	if err := f.recover(t.Context(), disk); err != nil {
		t.Errorf("%s: the recovery fails: %v", what, err)
		return
	}
	tree := readTree(t, disk, millrace.DefaultStateDir)
	if diffEntries(f.before, tree) != "" && diffEntries(f.after, tree) != "" {
		t.Errorf("%s: the tree is neither that before the run nor that after (-before +now):\n%s",
			what, diffEntries(f.before, tree))
	}
}

// meet lets another program write a file before operation n. The file must stay, unless the result lists it as changed.
func (f *faulting) meet(t testing.TB, n int) {
	t.Helper()
	f.tried.Foreign++
	disk, what := f.disk.Kill(), ""
	disk.Before(func(op crashfs.Op) error {
		if op.N != n {
			return nil
		}
		what = fmt.Sprintf("another program writes a file before operation %d, %s %s", op.N, op.Name, op.Path)
		return afero.WriteFile(disk.Unwatched(), foreignName, []byte(foreignText), fileMode)
	})
	res, err := f.run(t.Context(), disk)
	disk.Before(nil)
	if res != nil && names(res.FilesChanged, foreignName) {
		return
	}
	if text, err := afero.ReadFile(disk, foreignName); err != nil || string(text) != foreignText {
		t.Errorf("%s: the file is lost: %q, %v", what, text, err)
		return
	}
	if err := disk.Remove(foreignName); err != nil {
		t.Fatalf("millracetest: %v", err)
	}
	f.check(t, what, disk, err)
}

// names reports whether a file is among the changes of a run.
func names(c millrace.FilesChanged, file string) bool {
	return slices.Contains(c.Modified, file) || slices.Contains(c.Deleted, file) ||
		slices.ContainsFunc(c.Renamed, func(r millrace.RenamedFile) bool { return r.From == file })
}
