package fstest

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// Main runs the tests of a package that makes and deletes many files, with a separate temporary directory, and returns
// the exit status. To make a file, ext4 checks each nearby inode that was deleted in the last minute; below this
// directory it spreads new files over the disk, which saves a third of the processor time of such tests. Processes
// started by the tests find the directory in their environment. Such tests keep little data, so memory may grow to five
// times the live size before a collection, unless GOGC is set; that saves a tenth.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "millrace-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Programs that tests start as another user also make their files there.
	if err := os.Chmod(dir, 0o1777); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	spread(dir)
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		os.Setenv(name, dir)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	return m.Run()
}
