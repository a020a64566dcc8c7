package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestWriter_exchange is TestWriter_rename with a program that also checks what it replaces. So each save can be
// accounted for, not only the last ones: a commit was made from its bytes, the writer replaced them itself, or they
// still exist.
func TestWriter_exchange(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	temp := filepath.Join(fstest.TempDir(t), "temp")
	replaced := map[int]bool{0: true} // by the writer, unchanged or with an edit
	accounted := 0
	r.run(t, func(path string, n int) error {
		if err := os.WriteFile(temp, version(n, 0), 0o644); err != nil {
			return err
		}
		if err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE); err != nil {
			return err
		}
		data, err := os.ReadFile(temp)
		if err != nil {
			return err
		}
		old, ok := parseVersion(data)
		if !ok {
			return fmt.Errorf("torn: %q", data)
		}
		replaced[old] = true
		return os.Remove(temp)
	}, func() error {
		known, err := r.inState("conflicts")
		if err != nil {
			return err
		}
		for n := range known {
			if !replaced[n] {
				r.seen.add("put aside in conflicts", 1)
				replaced[n] = true
			}
		}
		data, err := os.ReadFile(r.path(contested))
		if err != nil {
			return err
		}
		if n, ok := parseVersion(data); ok {
			replaced[n] = true
		}
		for ; accounted <= r.saves; accounted++ {
			if !replaced[accounted] {
				return fmt.Errorf("save %d is lost", accounted)
			}
		}
		return nil
	})
}
