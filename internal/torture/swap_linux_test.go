package torture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
)

// secret is in all files outside the tree, and in none inside.
const secret = "OUTSIDE-SECRET"

// swapped is a tree in which a directory and a file constantly turn into links to the outside, and back.
type swapped struct {
	root, outside, aside string
	inside               *os.Root // the directory itself, wherever it has been moved
	top                  *os.Root
	before               map[string]string // the original state outside

	mu    sync.Mutex // held while something is swapped
	stop  chan struct{}
	done  sync.WaitGroup
	err   error
	swaps int
	// displaced counts how often the directory ended up elsewhere, like another program's directory that was in the way.
	displaced int
	junk      int
}

// The swapped names: a directory and a file.
const (
	swappedDir  = "d"
	swappedFile = "single"
)

// doorFiles are the files below the directory, inside and outside.
func doorFiles() []string {
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("f", i), fmt.Sprint("sub/g", i))
	}
	return names
}

// safeFiles are files of the tree that are not swapped.
func safeFiles() []string { return []string{"safe0", "safe1"} }

func newSwapped(t *testing.T) *swapped {
	t.Helper()
	base := fstest.TempDir(t)
	s := &swapped{
		root: filepath.Join(base, "root"), outside: filepath.Join(base, "outside"), aside: filepath.Join(base, "aside"),
		stop: make(chan struct{}),
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{s.root, s.root + "/" + swappedDir + "/sub", s.outside + "/sub", s.aside} {
		must(os.MkdirAll(dir, 0o755))
	}
	for _, name := range append(doorFiles(), swappedFile) {
		must(os.WriteFile(filepath.Join(s.outside, name), []byte(secret+" needle inside\n"), 0o644))
	}
	var err error
	s.before, err = describeOutside(s.outside)
	must(err)
	s.top, err = os.OpenRoot(s.root)
	must(err)
	s.inside, err = os.OpenRoot(filepath.Join(s.root, swappedDir))
	must(err)
	t.Cleanup(func() { s.top.Close(); s.inside.Close() })
	must(s.repair())
	return s
}

// repair restores the files of the tree to their original state. It works with handles, so that it never follows a link
// itself, and may be called at any time.
func (s *swapped) repair() error {
	text := []byte("a needle inside\n")
	write := func(root *os.Root, name string) error {
		if data, err := root.ReadFile(name); err == nil && bytes.Equal(data, text) {
			return nil
		}
		return root.WriteFile(name, text, 0o644)
	}
	if err := s.inside.Mkdir("sub", 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	for _, name := range doorFiles() {
		if err := write(s.inside, name); err != nil {
			return err
		}
	}
	for _, name := range safeFiles() {
		if err := write(s.top, name); err != nil {
			return err
		}
	}
	if info, err := s.top.Lstat(swappedFile); err != nil || info.Mode().IsRegular() {
		_ = write(s.top, swappedFile) // it may be a link again
	}
	for _, dir := range []struct {
		root *os.Root
		name string
	}{{s.top, "out"}, {s.inside, "in"}} {
		if err := dir.root.RemoveAll(dir.name); err != nil {
			return err
		}
	}
	return nil
}

// begin starts to swap.
func (s *swapped) begin(seed uint64) {
	s.done.Go(func() {
		rnd := rand.New(rand.NewPCG(39, seed))
		for s.err == nil {
			select {
			case <-s.stop:
				return
			default:
			}
			s.mu.Lock()
			s.err = s.swap(rnd)
			s.mu.Unlock()
		}
	})
}

// swap turns both into links, and back: by exchange, so that one or the other always exists, or by removing and making.
func (s *swapped) swap(rnd *rand.Rand) error {
	for _, name := range []string{swappedDir, swappedFile} {
		target := filepath.Join(s.outside, name)
		if name == swappedDir {
			target = s.outside
		}
		if rnd.IntN(2) == 0 {
			target = "../outside" + target[len(s.outside):]
		}
		if err := s.swapOne(rnd, filepath.Join(s.root, name), filepath.Join(s.aside, name), target); err != nil {
			return err
		}
	}
	s.swaps++
	return nil
}

// moment returns how long a state lasts: mostly not at all.
func moment(rnd *rand.Rand) time.Duration {
	switch rnd.IntN(8) {
	case 0:
		return time.Duration(rnd.IntN(300)) * time.Microsecond
	case 1, 2:
		return time.Duration(rnd.IntN(30)) * time.Microsecond
	}
	return 0
}

func (s *swapped) swapOne(rnd *rand.Rand, path, aside, target string) error {
	if rnd.IntN(2) == 0 {
		if err := os.Symlink(target, aside); err != nil {
			return err
		}
		for range 2 * (1 + rnd.IntN(4)) {
			err := unix.Renameat2(unix.AT_FDCWD, aside, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
			if err == syscall.ENOENT {
				break // a pipeline has just removed it
			}
			if err != nil {
				return err
			}
			pause(moment(rnd))
		}
		return s.backFrom(path, aside)
	}
	if err := os.Rename(path, aside); err != nil {
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	pause(moment(rnd))
	if err := os.Symlink(target, path); err != nil && !os.IsExist(err) {
		return err
	}
	pause(moment(rnd))
	return s.backFrom(path, aside)
}

// backFrom restores the entry of a name. Pipelines also move and remove links, and make files and directories in their
// place, which are moved out of the way.
func (s *swapped) backFrom(path, aside string) error {
	info, err := os.Lstat(aside)
	if err != nil {
		return err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		return os.Remove(aside)
	}
	for {
		err := unix.Renameat2(unix.AT_FDCWD, aside, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
		if err != syscall.EEXIST {
			return err
		}
		// It may be the directory itself, if a new one, made in its place, was put aside.
		s.junk++
		if err := os.Rename(path, fmt.Sprint(aside, s.junk)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
}

// find makes sure that the directory is the repaired one, and not a replacement that a pipeline made while it was away.
// Nothing must be swapped at that time.
func (s *swapped) find() error {
	info, err := s.top.Lstat(swappedDir)
	mine, merr := s.inside.Stat(".")
	if err == nil && merr == nil && os.SameFile(info, mine) {
		return nil
	}
	if merr != nil {
		return merr
	}
	if mine.Sys().(*syscall.Stat_t).Nlink == 0 {
		return errors.New("the directory has been deleted, with all in it")
	}
	s.displaced++
	if err := s.top.RemoveAll(swappedDir); err != nil {
		return err
	}
	if err := s.top.Mkdir(swappedDir, 0o755); err != nil {
		return err
	}
	s.inside.Close()
	s.inside, err = s.top.OpenRoot(swappedDir)
	return err
}

// quiet calls do while nothing is swapped, with everything in its place.
func (s *swapped) quiet(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return fmt.Errorf("swapping: %w", s.err)
	}
	return errors.Join(s.find(), do())
}

func (s *swapped) end() {
	close(s.stop)
	s.done.Wait()
}

// checkTree checks that no byte of the secret is in any file of the tree, including the state directory, and that
// everything outside is unchanged, including the times.
func (s *swapped) checkTree() error {
	err := filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(secret)) {
			err = fmt.Errorf("the secret is in %s", path)
		}
		return err
	})
	if err != nil {
		return err
	}
	after, err := describeOutside(s.outside)
	if err != nil {
		return err
	}
	for name, want := range s.before {
		if after[name] != want {
			return fmt.Errorf("outside, %s was %s and is %s", name, want, after[name])
		}
	}
	if len(after) != len(s.before) {
		return fmt.Errorf("outside has %v, had %v", after, s.before)
	}
	return nil
}

// describeOutside describes each file by everything that reading does not change.
func describeOutside(dir string) (map[string]string, error) {
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		data := []byte(nil)
		if info.Mode().IsRegular() {
			data, err = os.ReadFile(path)
		}
		all[path] = fmt.Sprintf("%v %d links, inode %d, size %d, modified %v, changed %v: %q",
			info.Mode(), st.Nlink, st.Ino, info.Size(), st.Mtim, st.Ctim, data)
		return err
	})
	return all, err
}
