package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A plan is stored only if it can be read again.
func TestStoreWhatCanBeRead(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.plan")
	if err := writePrivate(name, strings.Repeat("a", maxInput)); !isType[*outputError](err) ||
		!strings.Contains(err.Error(), "split the change") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was stored: %v", err)
	}
	if err := writePrivate(name, "a"); err != nil {
		t.Error(err)
	}
}

// A file is replaced as a whole: if that fails, it is unchanged, and no temporary file is left.
func TestStoreLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(name, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writePrivate(name, "a"); !isType[*outputError](err) {
		t.Errorf("%v", err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}
