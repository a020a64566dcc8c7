package fstest

import (
	"os"
	"testing"
)

// TempDir makes a directory, in memory if the system has a file system there: then fsync costs nothing, and thousands
// of files little. The directory is removed at the end of the test.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "millrace-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
