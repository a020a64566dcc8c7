package told_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
)

// A large file is hashed before the change is judged, and copied by the commit. Both report a growing number of bytes,
// and the line of the terminal shows them.
func TestBytesOfLargeFiles(t *testing.T) {
	t.Parallel()
	const size = 40 << 20
	for name, c := range map[string]struct {
		action actions.Action
		phase  string
	}{
		"rename": {actions.Rename{Files: []string{"big"}, To: "new"}, "collect"},
		"delete": {actions.Delete{Files: []string{"big"}}, "collect"},
		"copy":   {actions.Copy{Files: []string{"big"}, To: "new"}, "stage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fstest.Must(t, os.WriteFile(filepath.Join(dir, "big"), nil, 0o644))
			fstest.Must(t, os.Truncate(filepath.Join(dir, "big"), size))
			root, err := fsutil.OpenRoot(dir)
			fstest.Must(t, err)
			defer root.Close()
			last := make(map[string]int64)
			x := millrace.Executor{State: millrace.State{NoSync: true}, Observe: func(e millrace.Event) {
				if e, ok := e.(millrace.CommitPhase); ok && e.Bytes > 0 {
					if e.Bytes <= last[e.Phase] {
						t.Errorf("%s: %d bytes after %d", e.Phase, e.Bytes, last[e.Phase])
					}
					last[e.Phase] = e.Bytes
				}
			}}
			p, err := millrace.New(name).Step("s", c.action).Build()
			fstest.Must(t, err)
			_, err = x.Run(t.Context(), root, p)
			fstest.Must(t, err)
			if got := last[c.phase]; got < size/2 || got > size {
				t.Errorf("%s: %d bytes of %d: %v", c.phase, got, size, last)
			}
		})
	}
}
