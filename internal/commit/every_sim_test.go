package commit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// story is a random commit on an unreliable disk. It can run any number of times, each time on its own disk.
type story struct {
	number  uint64
	disk    *crashfs.Fs // the disk before the commit; never changed
	changes []change.Change
	options commit.Options // without a file system
	old     string         // the listing of the disk
	copies  bool           // whether files may become copies, with the same bytes in another inode
}

const simRun = "run-1"

// newStory draws a tree, changes to it, and the abilities of the disk. It has at least one change.
func newStory(t testing.TB, number uint64) *story {
	t.Helper()
	for try := uint64(0); ; try++ {
		rnd := rand.New(rand.NewPCG(number, try))
		s := &story{number: number, disk: crashfs.New(), options: commit.Options{
			StateDir: stateDir, Key: testKey, Workers: 1, ID: "20250213_120530_abc123def4567890", DropBackup: rnd.IntN(2) == 0,
		}}
		if rnd.IntN(3) == 0 {
			s.options.RunID, s.options.Result = simRun, []byte("{}")
		}
		s.disk.Without([]crashfs.Ability{0, 0, 0, 0, crashfs.Exchanges, crashfs.NoReplaces, crashfs.Links,
			crashfs.Exchanges | crashfs.NoReplaces | crashfs.Links | crashfs.Identities}[rnd.IntN(8)])
		plantStory(t, s.disk, rnd)
		s.disk.Settle()
		s.mountSome()
		s.old = s.disk.Listing(stateDir)
		s.changes = staged(t, s.disk.Kill(), drawEdits(rnd))
		if len(s.changes) > 0 {
			return s
		}
	}
}

// mountSome makes some files of some stories mount points, which the commit overwrites. Each has one name.
func (s *story) mountSome() {
	if s.number%4 != 2 {
		return
	}
	s.options.InPlace = true
	for i, name := range []string{"a", "b", "d/a"} {
		if info, err := s.disk.Stat(name); err == nil && info.Mode().IsRegular() && (s.number/4+uint64(i))%3 != 0 {
			s.disk.Mount(name)
		}
	}
}

func plantStory(t testing.TB, disk *crashfs.Fs, rnd *rand.Rand) {
	t.Helper()
	all := []string{"a=a text that is longer than a block of the disk", "b 600=2", "c=3", "d/a=4", "d/b 755=5", "d/e/a=6", "f/", "g/h/i=7", "l -> a", "m -> d"}
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:2+rnd.IntN(len(all)-1)]
	plant(t, disk, all...)
	if slices.Contains(all, "c=3") && rnd.IntN(3) == 0 {
		if err := disk.Unwatched().Link("c", "c2"); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "d", "d/a"} {
		_ = disk.SetAttr(name, "attributes of "+name) // if there is such a file
	}
}

// drawEdits draws changes to the tree. The stage refuses impossible ones.
func drawEdits(rnd *rand.Rand) func(s *stage.Stage) error {
	names := []string{"a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/a", "a/x", "f", "f/a", "g", "g/h", "l", "m", "n"}
	name := func() string { return names[rnd.IntN(len(names))] }
	type edit = func(*stage.Stage) error
	draw := []func() edit{
		func() edit { return write(name(), fmt.Sprintf("written %d", rnd.IntN(100))) },
		func() edit { return write(name(), strings.Repeat("many blocks ", rnd.IntN(12))) },
		func() edit { return remove(name()) },
		func() edit { return rename(name(), name()) },
		func() edit { return rename(name(), name()) },
		func() edit { x, y := name(), name(); return steps(rename(x, "t"), rename(y, x), rename("t", y)) },
		func() edit { return mkdir(name()) },
		func() edit { return chmod(name(), []fs.FileMode{0o600, 0o755, 0o700, 0o500}[rnd.IntN(4)]) },
		func() edit { return symlink(name(), name()) },
	}
	list := make([]edit, 1+rnd.IntN(7))
	for i := range list {
		list[i] = draw[rnd.IntN(len(draw))]()
	}
	return func(s *stage.Stage) error {
		for _, do := range list {
			_ = do(s) // refused
		}
		return nil
	}
}

// on returns the options for a disk.
func (s *story) on(disk afero.Fs) commit.Options {
	o := s.options
	o.FS = disk
	return o
}

// ending is the final state of a story.
type ending string

const (
	isOld ending = "old"
	isNew ending = "new"
)

// ending returns whether the disk, after recovery, is old or new, and an error if it is neither or anything is left
// over. newer is the listing of the new tree, "" if unknown.
func (s *story) ending(disk *crashfs.Fs, newer string) (ending, error) {
	is := s.listing(disk)
	var left []string
	for _, name := range disk.Names(stateDir) {
		for _, in := range disk.Names(stateDir + "/" + name) {
			left = append(left, name+"/"+in)
		}
	}
	var want []string
	end := isOld
	if is != s.strip(s.old) {
		end = isNew
		if s.keeps() {
			want = append(want, "backups/"+s.options.ID)
		}
		if s.options.RunID != "" {
			want = append(want, "results/"+simRun+".json")
		}
	}
	switch {
	case end == isNew && is != newer && newer != "":
		return end, fmt.Errorf("neither old nor new:\n--- old\n%s--- new\n%s--- is\n%s", s.old, newer, is)
	case !slices.Equal(left, want):
		return end, fmt.Errorf("tree is %s, and in the state directory is %q, not %q", end, left, want)
	case len(left) == 0 && len(disk.Names(stateDir)) > 0:
		return end, fmt.Errorf("in the state directory is %q", disk.Names(stateDir))
	}
	return end, nil
}

// listing describes a tree, as exactly as it can be predicted.
func (s *story) listing(disk *crashfs.Fs) string { return s.strip(disk.Listing(stateDir)) }

func (s *story) strip(listing string) string {
	if !s.copies {
		return listing
	}
	return regexp.MustCompile(` #\d+`).ReplaceAllString(listing, "")
}

// keeps reports whether a backup must be kept: all of it, or the part for deleted entries.
func (s *story) keeps() bool { return !s.options.DropBackup || deletes(s.changes) }

// deletes reports whether changes delete something, including files and links that a directory replaces, or that were
// deleted before something else got their names. An entry with the same content is the same entry.
func deletes(changes []change.Change) bool {
	return slices.ContainsFunc(changes, func(c change.Change) bool {
		moved := slices.ContainsFunc(changes, func(other change.Change) bool { return other.From == c.Path })
		under := c.Old
		if c.Kind == change.Renamed {
			under = c.Replaced
		}
		leaf := under.Kind == change.File || under.Kind == change.Symlink
		same := under.Kind == c.New.Kind && (!leaf ||
			c.Kind == change.Modified && under.Hash == c.New.Hash && under.Target == c.New.Target)
		return c.Kind == change.Deleted || !moved && leaf && c.New.Kind == change.Dir && c.Kind == change.Modified ||
			c.Trash && !same
	})
}

// stories returns the numbers 1 to n, and those of other stories that cover rare cases: the quick sample also detects
// each mutant.
func stories(n int, others ...uint64) []uint64 {
	var list []uint64
	for i := range n {
		list = append(list, uint64(i+1))
	}
	for _, number := range others {
		if number > uint64(n) {
			list = append(list, number)
		}
	}
	return list
}

// eachStory runs the stories, several at a time, and stops at the first failure.
func eachStory(t *testing.T, list []uint64, test func(t *testing.T, number uint64)) {
	t.Helper()
	const lanes = 8
	for lane := range lanes {
		t.Run(fmt.Sprintf("lane %d", lane), func(t *testing.T) {
			t.Parallel()
			for i := lane; i < len(list) && !t.Failed(); i += lanes {
				test(t, list[i])
			}
		})
	}
}
