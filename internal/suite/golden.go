package suite

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Golden checks that a file contains got. If update is set, it writes got to the file first.
func Golden(t *testing.T, update bool, file string, got []byte) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not current; run this test with -update and check the difference (-file +now):\n%s", file,
			cmp.Diff(string(want), string(got)))
	}
}
