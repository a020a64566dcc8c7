//go:build unix

package scratch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/scratch"
)

// A wide tree with links and closed directories is removed as a whole. The targets of the links stay.
func TestTree_wipesWideTree(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	precious := filepath.Join(outside, "f0")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, dirOf(t, map[string]string{"a/b": "b"}), nil)
	place := filepath.Dir(r.tree.Root())
	renew := func() {
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		r.exact()
	}
	renew()
	r.script(strings.ReplaceAll(`for i in $(seq 40); do
		mkdir -p d$i/e/f d$i/g; echo x > d$i/f0; echo x > d$i/e/f0; echo x > d$i/e/f/f0
		ln -s OUTSIDE d$i/out; ln -s OUTSIDE d$i/e/f1; ln -s ../d1 d$i/back; mkfifo d$i/e/f/pipe
		chmod 0 d$i/e/f d$i/g; chmod 0555 d$i/e; chmod 0300 d$i
	done; rm -r a; ln -s OUTSIDE a`, "OUTSIDE", outside))
	r.tree.Discard()
	renew()
	r.script("mkdir -p d/e; ln -s " + outside + " d/e/out; echo x > d/e/f; chmod 0 d/e")
	if err := r.tree.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(place); !os.IsNotExist(err) {
		t.Error("the place is not empty:", err)
	}
	if data, err := os.ReadFile(precious); string(data) != "x" {
		t.Errorf("a link was followed: %q, %v", data, err)
	}
}
