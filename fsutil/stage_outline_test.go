package fsutil_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
)

var sameChange = cmp.Options{cmpopts.IgnoreUnexported(fsutil.Change{})}

// checkOutline compares what Outline gives, as it is and summed, with Changes, and returns the paths whose hash was left out.
func checkOutline(t *testing.T, what string, s *fsutil.Stage) (left []string) {
	t.Helper()
	outline, err := s.Outline()
	must(t, err)
	changes := changesOf(t, s)
	if len(outline) != len(changes) {
		t.Fatalf("%s: %d changes in the outline, want %d", what, len(outline), len(changes))
	}
	for i, c := range outline {
		summed, err := c.Summed()
		must(t, err)
		if diff := cmp.Diff(changes[i], summed, sameChange); diff != "" {
			t.Errorf("%s, %s: (-Changes +Outline, summed)\n%s", what, c.Path, diff)
		}
		again, err := summed.Summed()
		if diff := cmp.Diff(summed, again, sameChange); diff != "" || err != nil {
			t.Errorf("%s, %s: summed twice: %v\n%s", what, c.Path, err, diff)
		}
		if c.New.Kind == fsutil.File && c.New.Hash == (fsutil.Hash{}) {
			left = append(left, c.Path)
			c.New.Hash = changes[i].New.Hash
		}
		if diff := cmp.Diff(changes[i], c, sameChange); diff != "" {
			t.Errorf("%s, %s: (-Changes +Outline)\n%s", what, c.Path, diff)
		}
	}
	return left
}

// outlineBase has files of that many equal bytes in a directory, and says whether the base knows when inodes have changed.
func outlineBase(t *testing.T, bare bool) (base afero.Fs, knows bool) {
	t.Helper()
	root := openRoot(t, t.TempDir())
	for _, name := range []string{"a", "b", "c", "d"} {
		write(t, root, name, strings.Repeat("a", 20))
	}
	info, err := root.Stat("a")
	must(t, err)
	if bare {
		return newFaulty(root), false // which has no identities
	}
	ident, ok := any(root).(fsutil.Identifier)
	if !ok {
		return root, false
	}
	id, ok := ident.IdentityOf(info)
	return root, ok && id.CTime != 0
}

// TestStage_Outline: the hash of an edited file is left out where its size or edits in place show that it is another one, and
// only there.
func TestStage_Outline(t *testing.T) {
	t.Parallel()
	edit := func(list ...fsutil.Splice) func(s *fsutil.Stage) error {
		return func(s *fsutil.Stage) error { return s.Edit("a", list) }
	}
	for name, tt := range map[string]struct {
		do      func(s *fsutil.Stage) error
		changes string
		left    bool
	}{
		"larger":           {edit(cut(3, 0, "x")), "modified a", true},
		"smaller":          {edit(cut(3, 2, "")), "modified a", true},
		"in place":         {edit(cut(3, 2, "xy"), cut(9, 1, "z")), "modified a", true},
		"shifted":          {edit(cut(0, 1, ""), cut(9, 0, "z")), "modified a", false},
		"shifted to equal": {edit(cut(0, 1, ""), cut(20, 0, "a")), "", false},
		"undone": {func(s *fsutil.Stage) error {
			return errors.Join(s.Edit("a", []fsutil.Splice{cut(0, 0, "x")}), s.Edit("a", []fsutil.Splice{cut(0, 1, "")}))
		}, "", false},
		"written": {func(s *fsutil.Stage) error { return afero.WriteFile(s, "a", []byte("new"), 0o644) }, "modified a", false},
		"created": {func(s *fsutil.Stage) error { return afero.WriteFile(s, "n", []byte("new"), 0o644) }, "created n", false},
		"removed": {func(s *fsutil.Stage) error { return s.Remove("a") }, "deleted a", false},
		"mode":    {func(s *fsutil.Stage) error { return s.Chmod("a", 0o600) }, "modified a", false},
		"renamed and edited": {func(s *fsutil.Stage) error {
			return errors.Join(s.Edit("a", []fsutil.Splice{cut(0, 0, "x")}), s.Rename("a", "n"))
		}, "renamed n from a", false},
		"edited on another": {func(s *fsutil.Stage) error {
			return errors.Join(s.Edit("b", []fsutil.Splice{cut(0, 0, "x")}), s.Rename("b", "a"))
		}, "renamed a from b over=file", false},
		"in pieces": {func(s *fsutil.Stage) error {
			var list []fsutil.Splice
			for range 4000 { // so many are not kept
				list = append(list, cut(3, 0, "b"))
			}
			return s.Edit("a", list)
		}, "modified a", false},
	} {
		for _, bare := range []bool{false, true} {
			base, knows := outlineBase(t, bare)
			s := fsutil.NewStage(base)
			must(t, tt.do(s))
			left := checkOutline(t, name, s)
			if got := strings.Join(outline(changesOf(t, s)), "; "); got != tt.changes {
				t.Errorf("%s: %q, want %q", name, got, tt.changes)
			}
			if (len(left) == 1) != (tt.left && knows) {
				t.Errorf("%s, bare %v: left out %q", name, bare, left)
			}
			must(t, s.Close())
		}
	}
}

// TestStage_Outline_random does random things and compares the two after each.
func TestStage_Outline_random(t *testing.T) {
	t.Parallel()
	runs, left, listed := fstest.Runs(60, 200, 5000), 0, 0
	for seed := range runs {
		random := rand.New(rand.NewPCG(uint64(seed), 11))
		base, knows := outlineBase(t, seed%4 == 0)
		s := fsutil.NewStage(base)
		if random.IntN(2) == 0 {
			fsutil.SetLimits(s, 0, 0)
		}
		for i := range 6 {
			name, other := string("abcd"[random.IntN(4)]), string("abcdn"[random.IntN(5)])
			switch random.IntN(6) {
			case 0:
				_ = s.Rename(name, other) // it may be gone
			case 1:
				_ = s.Remove(name)
			case 2:
				must(t, afero.WriteFile(s, other, randomBytes(random, 3), 0o600))
			default:
				if data, err := s.ReadFile(name); err == nil {
					must(t, s.Edit(name, randomSplices(random, len(data))))
				}
			}
			n := len(checkOutline(t, fmt.Sprintf("seed %d, %d", seed, i), s))
			if n > 0 && !knows {
				t.Errorf("seed %d: %d left out on a base without identities", seed, n)
			}
			left += n
			listed += len(changesOf(t, s))
		}
		must(t, s.Close())
	}
	t.Logf("%d stages, %d changes, %d of them without the hash", runs, listed, left)
	if _, knows := outlineBase(t, false); knows == (left == 0) || left == listed {
		t.Errorf("left out in %d of %d", left, listed)
	}
}

// TestChange_Summed_drift: what has changed since it was outlined has no hash, and is said to have changed.
func TestChange_Summed_drift(t *testing.T) {
	t.Parallel()
	base, knows := outlineBase(t, false)
	if !knows {
		t.Skip("this system does not say when an inode was changed, so no hash is left out")
	}
	s := fsutil.NewStage(base)
	fsutil.SetLimits(s, 1<<20, 0)
	must(t, s.Edit("a", []fsutil.Splice{cut(0, 0, "x")}))
	changes, err := s.Outline()
	must(t, err)
	write(t, base, "a", "something else")
	c, err := changes[0].Summed()
	if !errors.Is(err, fsutil.ErrDrift) || !strings.Contains(err.Error(), "read a:") || c.New.Hash != (fsutil.Hash{}) {
		t.Errorf("%v, %v", err, c.New.Hash)
	}
	if c, err := changes[0].WithContent(nil, nil).Summed(); err != nil || c.New.Hash != (fsutil.Hash{}) {
		t.Error("summed bytes that are not its own any more:", err)
	}
}
