package hostile_test

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// endlessFs has one file, endless.txt, that says that it has no bytes, as those of /proc do, and then never ends.
type endlessFs struct {
	afero.Fs
	read *atomic.Int64
}

func (e endlessFs) Open(name string) (afero.File, error) { return e.OpenFile(name, os.O_RDONLY, 0) }

func (e endlessFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	f, err := e.Fs.OpenFile(name, flag, perm)
	if err == nil && strings.TrimPrefix(name, "/") == "endless.txt" && flag == os.O_RDONLY {
		return endlessFile{f, e.read}, nil
	}
	return f, err
}

type endlessFile struct {
	afero.File
	read *atomic.Int64
}

func (f endlessFile) Read(p []byte) (int, error) {
	f.read.Add(int64(len(p)))
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func (f endlessFile) ReadAt(p []byte, _ int64) (int, error) { return f.Read(p) }

// A regular file of which stat says 0 bytes and that never ends is read no further than MaxFileBytes.
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
				fsys := endlessFs{b.fs, new(atomic.Int64)}
				within(t, patience, func(ctx context.Context) {
					x := host()
					x.MaxFileBytes = limit
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
						wantStepError(t, err, s["id"].(string), "endless.txt", fsutil.ErrTooLarge)
					}
					if err != nil {
						b.unchanged(t, before)
					}
				})
				if n := fsys.read.Load(); n > 4*limit {
					t.Errorf("%d bytes were read", n)
				}
			})
		})
	}
}
