//go:build unix

package scratch_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/scratch"
)

// The rules of all directories stay in memory during a scan, so their sum is limited. A command that leaves more does
// not block the next command.
func TestTree_Collect_tooManyRules(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{"a": "a"}), nil)
	for _, noIgnore := range []bool{false, true} {
		_, err := r.run("head -c 900000 /dev/zero | tr '\\0' x > f; for i in $(seq 20); do mkdir d$i; cp f d$i/.gitignore; done",
			scratch.Options{NoIgnore: noIgnore})
		if noIgnore && err != nil || !noIgnore && (err == nil || !strings.Contains(err.Error(), "larger than 16 MiB together")) {
			t.Errorf("no_ignore %v: %v", noIgnore, err)
		}
		r.tree.Discard()
	}
}
