package commit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// overMount is a RootFs on a mount that lacks some abilities, or has them only within one directory.
func overMount(t testing.TB, lacks, within errorfs.Lack) afero.Fs {
	below := rootFs(t)
	return errorfs.Wrap(below, errorfs.Mount(below, lacks, within))
}

// lackings returns mounts that exist, and some that may exist.
func lackings() map[string][2]errorfs.Lack {
	return map[string][2]errorfs.Lack{
		"ntfs-3g, sshfs, mergerfs": {errorfs.NoReplace | errorfs.Exchange},
		"no links":                 {errorfs.NoReplace | errorfs.Exchange | errorfs.Links},
		"bindfs, encfs":            {errorfs.NoReplace | errorfs.Exchange | errorfs.FreshFacts},
		"gocryptfs":                {errorfs.FreshFacts},
		"no exchange":              {errorfs.Exchange},
		"rename within":            {0, errorfs.NoReplace | errorfs.Exchange},
		"all within":               {0, errorfs.NoReplace | errorfs.Exchange | errorfs.Links},
		"links within":             {errorfs.NoReplace, errorfs.Links},
	}
}

// TestLacking commits each scenario on mounts that lack some abilities, and undoes it.
func TestLacking(t *testing.T) {
	t.Parallel()
	for name, lack := range lackings() {
		for _, sc := range scenarios() {
			t.Run(name+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				fsys := overMount(t, lack[0], lack[1])
				tr := newTrial(t, fsys, sc)
				tr.forgetInodes()
				rep, err := commit.Apply(bg, options(fsys), tr.changes)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tr.new, untimed(snapshot(t, fsys, false))); diff != "" {
					t.Fatalf("committed (-want +got):\n%s", diff)
				}
				if rep.ID == "" {
					return
				}
				if err := restoreBackup(fsys, rep.ID); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tr.old, snapshot(t, fsys, false)); diff != "" {
					t.Fatalf("restored (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// forgetInodes allows copies in place of files.
func (tr *trial) forgetInodes() {
	tr.copies = true
	for p, d := range tr.old {
		tr.old[p], _, _ = strings.Cut(d, " #")
	}
}

// TestLacking_random kills random commits on random mounts, and some of their recoveries. Afterwards the tree is old or
// new and nothing is left over, so no file is outside the tree.
func TestLacking_random(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	runs := fstest.Runs(300, 3000, 100_000)
	const lanes = 8
	for lane := range lanes {
		t.Run(fmt.Sprintf("lane %d", lane), func(t *testing.T) {
			t.Parallel()
			for i := lane; i < runs && !t.Failed(); i += lanes {
				lackingRun(t, rand.New(rand.NewPCG(seed, uint64(i))), i)
			}
		})
	}
}

func lackingRun(t *testing.T, rnd *rand.Rand, number int) {
	t.Helper()
	all := []errorfs.Lack{errorfs.NoReplace, errorfs.Exchange, errorfs.Links, errorfs.FreshFacts}
	var lacks, within errorfs.Lack
	for _, one := range all {
		switch rnd.IntN(4) {
		case 0, 1:
			lacks |= one
		case 2:
			within |= one
		}
	}
	tree := []string{"a=1", "b 600=2", "c=3", "d/a=4", "d/b 755=5", "d/e/a=6", "f/", "g/h/i=7", "l -> a"}
	rnd.Shuffle(len(tree), func(i, j int) { tree[i], tree[j] = tree[j], tree[i] })
	tree = tree[:2+rnd.IntN(len(tree)-1)]
	slices.Sort(tree)
	tr := newTrial(t, overMount(t, lacks, within), scenario{tree: tree, do: drawEdits(rnd)})
	tr.forgetInodes()
	what := fmt.Sprintf("run %d, lacks %b, within one directory %b", number, lacks, within)
	if rnd.IntN(4) > 0 {
		tr.killed(1 + rnd.IntN(60))
	}
	_, err := commit.Apply(bg, tr.options(), tr.changes)
	what += fmt.Sprintf(", %v", err)
	for range rnd.IntN(3) {
		tr.unlock()
		tr.killed(1 + rnd.IntN(30))
		_, _ = commit.Recover(bg, tr.options())
	}
	if isNew := tr.settled(t, what); !isNew && err == nil && !equalTrees(tr.old, tr.new) {
		t.Errorf("%s: committed, but the tree is old", what)
	}
}

// equalTrees reports whether a commit changes only times.
func equalTrees(old, new map[string]string) bool { return cmp.Equal(untimed(old), new) }

// killed makes every operation from that change on fail, as if the process were gone.
func (tr *trial) killed(at int) {
	kill, change := killAt(at), 0
	tr.hooks.before = func(_ int, op string, writes bool, name string) error {
		if writes {
			change++
		}
		return kill(change, op, writes, name)
	}
}
