package fstest

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// Main runs the tests of a package that makes and deletes many files, with a temporary directory of its own, and
// returns what to exit with. To make a file, ext4 looks at each inode nearby that was deleted in the last minute; below
// this directory it spreads what it makes over the disk, which takes a third of the processor time from such tests.
// Processes that the tests start find the directory in their environment. Such tests keep little, so memory may grow to
// five times what is in use before it is collected, unless GOGC says otherwise; that takes a tenth.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "millrace-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Programs that tests start as another user make their files there too.
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
