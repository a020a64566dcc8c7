package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// mountsVariable means that the test runs in its own mount namespace, so that nothing stays mounted.
const mountsVariable = "MILLRACE_TORTURE_MOUNTS"

// realFs is a file system to make on a disk.
type realFs struct {
	megabytes int64
	mkfs      []string
}

func realFileSystems() map[string]realFs {
	return map[string]realFs{
		"ext4":  {64, []string{"mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"}},
		"xfs":   {300, []string{"mkfs.xfs", "-q", "-f", "-K"}},
		"btrfs": {128, []string{"mkfs.btrfs", "-q", "-f", "-K"}},
	}
}

// TestPowerCut cuts the power at random moments while a process commits generation after generation on a real file
// system. The disk is mounted, which replays the file system's own journal, and recovered: the whole tree is one
// generation, not older than the last acknowledged one. Without fsyncs nothing is promised, and the results are only
// logged.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for name, real := range realFileSystems() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cuts, others := fstest.Runs(1, 8, 100), fstest.Runs(1, 4, 50)
			if os.Getenv(mountsVariable) == "" {
				withMounts(t)
				return
			}
			seen := powerCuts(t, real, "sync", cuts)
			if seen.get("lost")+seen.get("mixed") > 0 {
				t.Errorf("with fsyncs: %v", seen.n)
			}
			fstest.Countf(t, "with fsyncs: %v", seen.n)
			fstest.Countf(t, "without: %v", powerCuts(t, real, "nosync", others).n)
		})
	}
}

// withMounts runs the test again, in a process whose mounts end with it.
func withMounts(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount file systems")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"-test.v", "-test.run=^TestPowerCut$/^" + filepath.Base(t.Name()) + "$"}
	if testing.Short() {
		flags = append(flags, "-test.short")
	}
	cmd := exec.CommandContext(t.Context(), exe, flags...)
	cmd.Env = append(os.Environ(), mountsVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM):
		t.Skipf("needs a mount namespace: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case bytes.Contains(out, []byte("--- SKIP: "+t.Name())):
		t.Skipf("%s", out)
	default:
		t.Logf("%s", out)
	}
}

func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %v: %w: %s", name, args, err, bytes.TrimSpace(out))
	}
	return err
}

// blackout is the state of a disk after a power cut, and the last generation that was acknowledged before.
type blackout struct {
	left  blocks
	acked int
}

// powerCuts makes a file system, works on it, and checks the results of a number of power cuts.
func powerCuts(t *testing.T, real realFs, sync string, cuts int) *counters {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	base := fstest.TempDir(t)
	image, mnt := filepath.Join(base, "image"), filepath.Join(base, "mnt")
	for _, dir := range []string{mnt, base + "/fuse"} {
		must(os.Mkdir(dir, 0o755))
	}
	must(os.WriteFile(image, nil, 0o600))
	must(os.Truncate(image, real.megabytes<<20))
	if _, err := exec.LookPath(real.mkfs[0]); err != nil {
		t.Skipf("needs %s: %v", real.mkfs[0], err)
	}
	must(command(real.mkfs[0], append(real.mkfs[1:], image)...))
	d, err := readDisk(image)
	must(err)
	file, err := d.mount(base + "/fuse")
	if err != nil {
		t.Skipf("needs FUSE: %v", err)
	}
	defer unix.Unmount(base+"/fuse", unix.MNT_DETACH)
	if err := command("mount", "-o", "loop", file, mnt); err != nil {
		t.Skipf("needs loop devices and the file system: %v", err)
	}
	var list []blackout
	list, err = work(d, mnt, sync, cuts)
	must(errors.Join(err, unmount(mnt)))

	seen := &counters{}
	d.mu.Lock()
	seen.add("disk writes", d.writes)
	seen.add("disk flushes", d.flushes)
	d.mu.Unlock()
	for _, b := range list {
		must(d.save(b.left, image))
		must(lookAt(image, mnt, b.acked, seen))
	}
	return seen
}

// unmount waits for processes that still use the mount.
func unmount(mnt string) error {
	var err error
	for range 100 {
		if err = command("umount", mnt); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	// The kernel remembers a btrfs that it has seen, and takes an older state of it for an error.
	if _, lerr := exec.LookPath("btrfs"); lerr == nil {
		_ = command("btrfs", "device", "scan", "--forget") // it fails if there is none
	}
	return err
}

// work lets a process commit on a mounted disk, and cuts the power from time to time.
func work(d *disk, mnt, sync string, cuts int) ([]blackout, error) {
	// The top of the mount may have entries that do not belong to the tree.
	tree := filepath.Join(mnt, "tree")
	err := os.Mkdir(tree, 0o755)
	if err == nil {
		err = plant(tree, generation(0, false))
	}
	if err != nil {
		return nil, err
	}
	unix.Sync()
	v, err := start("generations", "root", tree, sync, "keep")
	if err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(6, uint64(cuts)))
	acked := 0
	see := func(line string) {
		if n, ok := strings.CutPrefix(line, "ack "); ok {
			acked, _ = strconv.Atoi(n)
		}
	}
	defer v.kill(see)
	var list []blackout
	for range cuts {
		if !v.await("phase "+phases()[rnd.IntN(len(phases()))], 1+rnd.IntN(2), see) {
			return nil, fmt.Errorf("the victim ended without a kill: %s", &v.stderr)
		}
		pause(time.Duration(rnd.IntN(4000)) * time.Microsecond)
		// Generations acknowledged since then are not known here, which only makes the check less strict.
		list = append(list, blackout{d.cut(rnd, []int{0, 50, 90, 100}[rnd.IntN(4)]), acked})
	}
	return list, nil
}

// lookAt mounts a disk after a power cut, recovers, and counts the results.
func lookAt(image, mnt string, acked int, seen *counters) error {
	seen.add("cuts", 1)
	seen.add("acknowledged generations", acked)
	if err := command("mount", "-o", "loop", image, mnt); err != nil {
		return err
	}
	defer unmount(mnt)
	tree := filepath.Join(mnt, "tree")
	fsys, err := open("root", tree)
	if err != nil {
		return err
	}
	defer fsys.(interface{ Close() error }).Close()
	r, err := (millrace.Executor{}).Recover(context.Background(), fsys)
	if err != nil {
		seen.add("not recovered", 1)
		seen.add("mixed", 1)
		return nil //nolint:nilerr // counted
	}
	seen.add("rolled back", len(r.RolledBack))
	seen.add("finished", len(r.Finished))
	g, err := whichGeneration(tree, false)
	if err = errors.Join(err, litter(tree, false)); err != nil {
		seen.add("mixed", 1)
		seen.add(err.Error(), 1)
		return nil //nolint:nilerr // counted
	}
	if g < acked {
		seen.add("lost", 1)
	}
	return nil
}
