//go:build unix

package scratch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/scratch"
)

// A directory of the tree that is too deep for a scratch tree is left out with a warning, and stays as it is.
func TestTree_deepTree(t *testing.T) {
	t.Parallel()
	deepest := "d" + strings.Repeat("/d", 127)
	r := newRig(t, dirOf(t, map[string]string{"a": "a", deepest + "/f": "f", deepest + "/e/g/h": "h", deepest + "/e/i": "i"}), nil)
	for _, script := range []string{"echo x > a", "rm -rf d"} {
		r.warns = nil
		_, err := r.run(script, scratch.Options{})
		fstest.Must(t, err)
		want := []string{"1 directories are not in the copy, because they lie too deep in the tree: " + deepest + "/e"}
		if d := cmp.Diff(want, r.warns); d != "" {
			t.Errorf("%s: -want +warned\n%s", script, d)
		}
	}
	for name, stays := range map[string]bool{"/f": false, "/e/g/h": true, "/e/i": true} {
		if _, _, err := r.view.LstatIfPossible(deepest + name); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}
