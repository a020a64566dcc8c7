package stage_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

var sameChange = cmp.Options{cmpopts.IgnoreUnexported(change.Change{})}

// checkOutline compares the result of Outline, as it is and summed, with Changes, and returns the paths without a hash.
func checkOutline(t *testing.T, what string, s *stage.Stage) (left []string) {
	t.Helper()
	outline, err := s.Outline()
	fstest.Must(t, err)
	changes := changesOf(t, s)
	if len(outline) != len(changes) {
		t.Fatalf("%s: %d changes in the outline, want %d", what, len(outline), len(changes))
	}
	for i, c := range outline {
		summed, err := stage.Summed(c)
		fstest.Must(t, err)
		if diff := cmp.Diff(changes[i], summed, sameChange); diff != "" {
			t.Errorf("%s, %s: (-Changes +Outline, summed)\n%s", what, c.Path, diff)
		}
		again, err := stage.Summed(summed)
		if diff := cmp.Diff(summed, again, sameChange); diff != "" || err != nil {
			t.Errorf("%s, %s: summed twice: %v\n%s", what, c.Path, err, diff)
		}
		if c.New.Kind == change.File && c.New.Hash == (change.Hash{}) {
			left = append(left, c.Path)
			c.New.Hash = changes[i].New.Hash
		}
		if diff := cmp.Diff(changes[i], c, sameChange); diff != "" {
			t.Errorf("%s, %s: (-Changes +Outline)\n%s", what, c.Path, diff)
		}
	}
	return left
}

// outlineBase has files of that many equal bytes in a directory, and returns whether the base reports when inodes
// changed.
func outlineBase(t *testing.T, bare bool) (base afero.Fs, knows bool) {
	t.Helper()
	root := fstest.OpenRoot(t, t.TempDir())
	for _, name := range []string{"a", "b", "c", "d"} {
		fstest.Write(t, root, name, strings.Repeat("a", 20))
	}
	info, err := root.Stat("a")
	fstest.Must(t, err)
	if bare {
		return newFaulty(root), false // it has no identities
	}
	ident, ok := any(root).(capability.Identifier)
	if !ok {
		return root, false
	}
	id, ok := ident.IdentityOf(info)
	return root, ok && id.CTime != 0
}

// TestStage_Outline: an edited file has no hash if its size or edits in place show that its hash has changed, and only
// then.
func TestStage_Outline(t *testing.T) {
	t.Parallel()
	edit := func(list ...change.Splice) func(s *stage.Stage) error {
		return func(s *stage.Stage) error { return s.Edit("a", list) }
	}
	for name, tt := range map[string]struct {
		do      func(s *stage.Stage) error
		changes string
		left    bool
	}{
		"larger":           {edit(cut(3, 0, "x")), "modified a", true},
		"smaller":          {edit(cut(3, 2, "")), "modified a", true},
		"in place":         {edit(cut(3, 2, "xy"), cut(9, 1, "z")), "modified a", true},
		"shifted":          {edit(cut(0, 1, ""), cut(9, 0, "z")), "modified a", false},
		"shifted to equal": {edit(cut(0, 1, ""), cut(20, 0, "a")), "", false},
		"undone": {func(s *stage.Stage) error {
			return errors.Join(s.Edit("a", []change.Splice{cut(0, 0, "x")}), s.Edit("a", []change.Splice{cut(0, 1, "")}))
		}, "", false},
		"written": {func(s *stage.Stage) error { return afero.WriteFile(s, "a", []byte("new"), 0o644) }, "modified a", false},
		"created": {func(s *stage.Stage) error { return afero.WriteFile(s, "n", []byte("new"), 0o644) }, "created n", false},
		"removed": {func(s *stage.Stage) error { return s.Remove("a") }, "deleted a", false},
		"mode":    {func(s *stage.Stage) error { return s.Chmod("a", 0o600) }, "modified a", false},
		"renamed and edited": {func(s *stage.Stage) error {
			return errors.Join(s.Edit("a", []change.Splice{cut(0, 0, "x")}), s.Rename("a", "n"))
		}, "renamed n from a", false},
		"edited on another": {func(s *stage.Stage) error {
			return errors.Join(s.Edit("b", []change.Splice{cut(0, 0, "x")}), s.Rename("b", "a"))
		}, "renamed a from b over=file", false},
		"in pieces": {func(s *stage.Stage) error {
			var list []change.Splice
			for range 4000 { // too many to be kept
				list = append(list, cut(3, 0, "b"))
			}
			return s.Edit("a", list)
		}, "modified a", false},
	} {
		for _, bare := range []bool{false, true} {
			base, knows := outlineBase(t, bare)
			s := stage.New(base)
			fstest.Must(t, tt.do(s))
			left := checkOutline(t, name, s)
			if got := strings.Join(outline(changesOf(t, s)), "; "); got != tt.changes {
				t.Errorf("%s: %q, want %q", name, got, tt.changes)
			}
			if (len(left) == 1) != (tt.left && knows) {
				t.Errorf("%s, bare %v: left out %q", name, bare, left)
			}
			fstest.Must(t, s.Close())
		}
	}
}

// TestStage_Outline_random does random operations and compares the two after each.
func TestStage_Outline_random(t *testing.T) {
	t.Parallel()
	runs, left, listed := fstest.Runs(60, 200, 5000), 0, 0
	for seed := range runs {
		random := rand.New(rand.NewPCG(uint64(seed), 11))
		base, knows := outlineBase(t, seed%4 == 0)
		s := stage.New(base)
		if random.IntN(2) == 0 {
			stage.SetLimits(s, 0, 0)
		}
		for i := range 6 {
			name, other := string("abcd"[random.IntN(4)]), string("abcdn"[random.IntN(5)])
			switch random.IntN(6) {
			case 0:
				_ = s.Rename(name, other) // it may be gone
			case 1:
				_ = s.Remove(name)
			case 2:
				fstest.Must(t, afero.WriteFile(s, other, fstest.RandomBytes(random, 3), 0o600))
			default:
				if data, err := s.ReadFile(name); err == nil {
					fstest.Must(t, s.Edit(name, randomSplices(random, len(data))))
				}
			}
			n := len(checkOutline(t, fmt.Sprintf("seed %d, %d", seed, i), s))
			if n > 0 && !knows {
				t.Errorf("seed %d: %d left out on a base without identities", seed, n)
			}
			left += n
			listed += len(changesOf(t, s))
		}
		fstest.Must(t, s.Close())
	}
	t.Logf("%d stages, %d changes, %d of them without the hash", runs, listed, left)
	if _, knows := outlineBase(t, false); knows == (left == 0) || left == listed {
		t.Errorf("left out in %d of %d", left, listed)
	}
}

// TestChange_Summed_drift: a file that changed after it was outlined has no hash, and is reported as changed.
func TestChange_Summed_drift(t *testing.T) {
	t.Parallel()
	base, knows := outlineBase(t, false)
	if !knows {
		t.Skip("this system does not report when an inode was changed, so no hash is left out")
	}
	s := stage.New(base)
	stage.SetLimits(s, 1<<20, 0)
	fstest.Must(t, s.Edit("a", []change.Splice{cut(0, 0, "x")}))
	changes, err := s.Outline()
	fstest.Must(t, err)
	fstest.Write(t, base, "a", "something else")
	c, err := stage.Summed(changes[0])
	if !errors.Is(err, names.ErrDrift) || !strings.Contains(err.Error(), "read a:") || c.New.Hash != (change.Hash{}) {
		t.Errorf("%v, %v", err, c.New.Hash)
	}
	other := changes[0]
	other.SetBytes(nil, nil)
	if c, err := stage.Summed(other); err != nil || c.New.Hash != (change.Hash{}) {
		t.Error("summed bytes that are not its own any more:", err)
	}
}
