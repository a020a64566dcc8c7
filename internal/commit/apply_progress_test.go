package commit_test

import (
	"fmt"
	"testing"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestProgress checks that each phase that handles all changes counts them in increasing order, whatever the file
// system supports.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, newFs := range backends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := newFs(t)
			changes := staged(t, fsys, func(s *stage.Stage) error {
				for i := range 150 {
					if err := write(fmt.Sprintf("f%03d", i), "x")(s); err != nil {
						return err
					}
				}
				return nil
			})
			o := options(fsys)
			last := make(map[string]int)
			o.Progress = func(phase string, done, total int, _ int64) {
				if done <= last[phase] || done > total || total < 150 {
					t.Errorf("%s: %d of %d after %d", phase, done, total, last[phase])
				}
				last[phase] = done
			}
			if _, err := commit.Apply(bg, o, changes); err != nil {
				t.Fatal(err)
			}
			for _, phase := range []string{"verify", "stage", "backup", "apply"} {
				if last[phase] < 128 {
					t.Errorf("%s came to %d of 150", phase, last[phase])
				}
			}
		})
	}
}
