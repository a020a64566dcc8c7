//go:build linux

package hostile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// smallDisk is a file system in memory with a limited, resizable number of pages and inodes, with twenty files of two
// pages in "tree". Only a commit's additions can fill it.
type smallDisk struct{ mount, dir string }

func newSmallDisk(t *testing.T) smallDisk {
	t.Helper()
	d := smallDisk{mount: t.TempDir()}
	d.dir = filepath.Join(d.mount, "tree")
	mounted(t, "millrace", d.mount, "tmpfs", 0, "size=64m,nr_inodes=20000")
	d.plant(t)
	return d
}

func (d smallDisk) plant(t *testing.T) {
	t.Helper()
	for i := range 20 {
		plantDir(t, d.dir, fmt.Sprintf("files/f%02d=%s", i, strings.Repeat("x", 8000)))
	}
}

// reset empties the disk and resizes it. Mounting a new disk would take much longer.
func (d smallDisk) reset(t *testing.T, pages, nodes int) {
	t.Helper()
	must(t, os.RemoveAll(d.dir))
	d.plant(t)
	must(t, unix.Mount("", d.mount, "", unix.MS_REMOUNT, fmt.Sprintf("size=%dk,nr_inodes=%d", pages*4, nodes)))
}

const (
	fullPages = 20 * 2
	fullNodes = 1 + 2 + 20 // the mount, two directories, the files
)

// TestHostile_the_disk_is_full_at_each_stage commits on a real disk with that many free pages or inodes. If the commit
// does not fit, the tree is old at once, and nothing is left over.
func TestHostile_the_disk_is_full_at_each_stage(t *testing.T) {
	t.Parallel()
	needRoot(t)
	levels := fstest.Runs(25, 100, 400)
	for name, level := range map[string]func(i int) (pages, nodes int){
		"pages":  func(i int) (int, int) { return fullPages + i*100/levels, 10_000 },
		"inodes": func(i int) (int, int) { return 10_000, fullNodes + i*100/levels },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var olds, news int
			phases := make(map[string]int)
			disk := newSmallDisk(t)
			for i := range levels {
				pages, nodes := level(i)
				disk.reset(t, pages, nodes)
				if fillAndCommit(t, disk.dir, phases) {
					news++
				} else {
					olds++
				}
			}
			fstest.Countf(t, "%d times old, %d times new, failed in %v", olds, news, phases)
			if olds == 0 || news == 0 || len(phases) < 2 {
				t.Errorf("%d times old, %d times new, failed in %v: not every stage was met", olds, news, phases)
			}
		})
	}
}

// fillAndCommit reports whether there was room. phases counts the phases without room.
func fillAndCommit(t *testing.T, dir string, phases map[string]int) (isNew bool) {
	t.Helper()
	before := treeOf(t, dir, exact)
	fsys := openDir(t, dir)
	defer fsys.Close()
	phase := ""
	x := millrace.Executor{Observe: func(e millrace.Event) {
		if p, ok := e.(millrace.CommitPhase); ok && p.Phase != "rollback" {
			phase = p.Phase
		}
	}}
	_, err := x.Run(t.Context(), fsys, altering(func(s *stage.Stage) error {
		var errs []error
		for i := range 20 {
			errs = append(errs, afero.WriteFile(s, fmt.Sprintf("files/f%02d", i), []byte(strings.Repeat("y", 8000)), 0o644))
		}
		return errors.Join(append(errs, afero.WriteFile(s, "made", []byte("new"), 0o644))...)
	}))
	if err == nil {
		if data, _ := os.ReadFile(filepath.Join(dir, "files/f19")); string(data) != strings.Repeat("y", 8000) {
			t.Errorf("committed, but f19 is %.20q", data)
		}
		return true
	}
	phases[phase]++
	failed, ok := errors.AsType[*millrace.CommitError](err)
	if !ok || failed.State == millrace.CommitPending || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("in %s: error is %T %v", phase, err, err)
	}
	sameTree(t, "after "+err.Error(), dir, before, exact)
	return false
}

// TestHostile_disk_full_during_rollback has no page and no inode left when a half applied commit must be rolled back.
func TestHostile_disk_full_during_rollback(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for _, full := range []string{"pages", "inodes"} {
		t.Run(full, func(t *testing.T) {
			t.Parallel()
			disk := newSmallDisk(t)
			disk.reset(t, fullPages+200, fullNodes+200)
			dir := disk.dir
			everything(t, dir)
			before := treeOf(t, dir, exact)
			for pipeline, moment := range map[string]string{"everything": "chmod mode", "edits": "exchange files/f10"} {
				h := &opHook{}
				h.before = func(event string) error {
					if event != moment {
						return nil
					}
					h.before = nil
					fill(t, disk.mount, full)
					return syscall.EIO
				}
				x := millrace.Executor{Observe: h.observe}
				_, err := x.Run(t.Context(), h.wrap(openDir(t, dir)), diskPipelines()[pipeline])
				failedAs(t, err, millrace.CommitRolledBack, syscall.EIO)
				sameTree(t, pipeline+" rolled back", dir, before, exact)
				fillers, err := filepath.Glob(filepath.Join(disk.mount, "filler*"))
				must(t, err)
				for _, name := range fillers {
					must(t, os.Remove(name))
				}
			}
		})
	}
}

// fill uses up all pages, or all inodes.
func fill(t *testing.T, dir, what string) {
	t.Helper()
	var err error
	for i := 0; err == nil && i < 10_000; i++ {
		var data []byte
		if what == "pages" {
			data = make([]byte, 1<<20)
		}
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("filler%d", i)), data, 0o644)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("fill: %v", err)
	}
}

// TestHostile_the_disk_is_full_during_recovery has no page and no inode left when the commit of a dead process must be
// undone.
func TestHostile_the_disk_is_full_during_recovery(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for _, full := range []string{"pages", "inodes"} {
		for pipeline, moment := range map[string]string{"everything": "chmod mode", "edits": "exchange files/f10"} {
			t.Run(full+"/"+pipeline, func(t *testing.T) {
				t.Parallel()
				disk := newSmallDisk(t)
				disk.reset(t, fullPages+200, fullNodes+200)
				everything(t, disk.dir)
				before := treeOf(t, disk.dir, exact)
				h, dead := &opHook{}, false
				h.before = func(event string) error {
					if dead = dead || event == moment; dead {
						return syscall.EIO
					}
					return nil
				}
				_, err := (millrace.Executor{}).Run(t.Context(), h.wrap(openDir(t, disk.dir)), diskPipelines()[pipeline])
				failedAs(t, err, millrace.CommitPending, syscall.EIO)
				fill(t, disk.mount, full)
				done, err := (millrace.Executor{}).Recover(t.Context(), openDir(t, disk.dir))
				if err != nil || len(done.RolledBack) != 1 {
					t.Fatalf("%+v, %v", done, err)
				}
				sameTree(t, "recovered", disk.dir, before, exact)
			})
		}
	}
}
