package hostile_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/names"
)

// An endless regular file, for which stat reports 0 bytes, is not read far beyond MaxFileBytes.
func TestHostile_endless_file_of_size_zero(t *testing.T) {
	t.Parallel()
	const limit = 2 << 20
	files := []string{"endless.txt"}
	for _, s := range []obj{
		editFile("endless.txt", "x", "y"),
		act("multi_edit", obj{"files": files, "edits": []obj{{"old_text": "xx", "new_text": "y"}}}),
		act("regex_transform", obj{"files": files, "patterns": []obj{{"pattern": "x+", "replacement": "y"}}}),
		act("count_occurrences", obj{"files": files, "pattern": "x"}),
		act("read_ranges", obj{"files": files}),
		act("diff", obj{"file_a": "a.txt", "file_b": "endless.txt"}),
		act("copy", obj{"files": files, "to": "copied.txt"}),
		act("delete", obj{"files": files}),
		act("search", obj{"pattern": "xyz|needle"}),
		act("search", obj{"pattern": "x"}),
		act("search", obj{"path": "endless.txt", "pattern": "x", "include_content": true}),
	} {
		t.Run(s["id"].(string), func(t *testing.T) {
			eachCommitting(t, func(t *testing.T, b *backend) {
				b.plant(t, map[string]string{"endless.txt": ""})
				before := b.snapshot(t)
				var read atomic.Int64
				fsys := errorfs.Wrap(errorfs.Only(b.fs), errorfs.Endless("endless.txt", 'x', &read))
				within(t, patience, func(ctx context.Context) {
					x := host()
					x.Limits.MaxFileBytes = limit
					res, err := x.Run(ctx, fsys, decoded(t, editFile("a.txt", "needle", "pin", id("first")), s))
					if res == nil {
						t.Errorf("no result, %v", err)
						return
					}
					switch action := s["action"]; {
					case action == "search" && err == nil:
						if w := strings.Join(res.Results[1].Warnings, "\n"); !strings.Contains(w, "endless.txt") {
							t.Errorf("no warning that endless.txt was left out: %q", w)
						}
					case action == "copy" || action == "delete":
						if err == nil {
							t.Errorf("%s has copied an endless file", action)
						}
					default:
						wantStepError(t, err, s["id"].(string), "endless.txt", names.ErrTooLarge)
					}
					if err != nil {
						b.unchanged(t, before)
					}
				})
				if n := read.Load(); n > 4*limit {
					t.Errorf("%d bytes were read", n)
				}
			})
		})
	}
}
