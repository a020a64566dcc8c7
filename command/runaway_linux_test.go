package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/millrace-go/millrace/command"
)

// TestRunsAway: a program that forks again and again, each time into a new session, and ends each parent, is never the
// same process at the next search. It is found nevertheless.
func TestRunsAway(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("perl is missing, which forks without becoming another program")
	}
	const text = `use POSIX; my $end = time + 30; my $n = 0; $| = 1; close STDIN;
		while (time < $end) {
			my $pid = fork; exit 0 if $pid;
			POSIX::setsid();
			if (++$n == 20) { close STDOUT; close STDERR; open F, ">", "there"; close F }
			if ($n % 20 == 0) { open F, ">>", "beat"; print F "x"; close F }
		}`
	for range 3 {
		p := acting(t)
		p.Allow = []string{"perl *"}
		root := t.TempDir()
		write(t, filepath.Join(root, "away.pl"), text)
		c := script("perl away.pl; while [ ! -e there ]; do sleep 0.01; done")
		c.Root = root
		if _, err := p.Run(t.Context(), c); err != nil {
			t.Error(err)
		}
		beats := func() int64 {
			info, err := os.Stat(filepath.Join(root, "beat"))
			if err != nil {
				return 0
			}
			return info.Size()
		}
		before := beats()
		time.Sleep(200 * time.Millisecond) // if it lived, it would continue
		if after := beats(); after != before {
			t.Errorf("it goes on: %d beats, then %d", before, after)
			_ = command.Reap(root)
		}
	}
}
