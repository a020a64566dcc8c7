package hostile_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/names"
)

// watchReads counts the reads of the file of that name, and calls hook before each read with the number of earlier
// reads.
func watchReads(below afero.Fs, name string, n *atomic.Int64, hook func(reads int64)) afero.Fs {
	return errorfs.Wrap(errorfs.Only(below), func(op *errorfs.Op, do func() error) error {
		if (op.Kind == "read" || op.Kind == "pread") && strings.TrimPrefix(op.Name, "/") == name {
			hook(n.Add(1) - 1)
		}
		return do()
	})
}

const (
	tebibyte  = 1 << 40
	largeFile = 3 << 20 // a file is read in several pieces
)

// Making a sparse file costs nothing, but reading it takes hours.
func TestHostile_sparse_file_of_one_tebibyte(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"root", "os", "plain"} { // a MemMapFs would hold all of it
		t.Run(name, func(t *testing.T) {
			b := newBackend(t, name)
			b.plant(t, map[string]string{"sparse.txt": strings.Repeat("text ", largeFile/5)})
			if err := os.Truncate(b.path("sparse.txt"), tebibyte); err != nil {
				t.Skipf("no sparse files here: %v", err)
			}
			var n atomic.Int64
			reads := watchReads(b.fs, "sparse.txt", &n, func(int64) {})
			for _, fsys := range []afero.Fs{b.fs, reads} {
				for _, s := range []obj{
					editFile("sparse.txt", "needle", "pin"),
					act("regex_transform", obj{"files": []string{"sparse.txt"}, "patterns": []obj{{"pattern": "n", "replacement": "m"}}}),
					act("count_occurrences", obj{"files": []string{"sparse.txt"}, "pattern": "needle"}),
					act("read_ranges", obj{"files": []string{"sparse.txt"}, "end_line": 1}),
					act("diff", obj{"file_a": "a.txt", "file_b": "sparse.txt"}),
				} {
					within(t, patience, func(ctx context.Context) {
						_, err := host().Run(ctx, fsys, decoded(t, editFile("a.txt", "needle", "pin", id("first")), s))
						wantStepError(t, err, s["id"].(string), "sparse.txt", names.ErrTooLarge)
					})
				}
				if n := n.Load(); n > 0 {
					t.Errorf("sparse.txt was read %d times", n)
				}
				within(t, patience, func(ctx context.Context) {
					res, err := host().Run(ctx, fsys, decoded(t, act("search", obj{"pattern": "needle|x"})))
					if err != nil || len(res.Results[0].FilesMatched) != 4 {
						t.Errorf("%v, %v", res, err)
						return
					}
					if w := strings.Join(res.Results[0].Warnings, "\n"); !strings.Contains(w, "sparse.txt") {
						t.Errorf("no warning that sparse.txt was left out: %q", w)
					}
				})
			}
			if n := n.Load(); n > 1 {
				t.Errorf("the search read sparse.txt %d times, but a single piece shows that it is not binary", n)
			}
			if got := b.content(t, "a.txt"); got != "alpha needle\n" {
				t.Errorf("a.txt is %q", got)
			}
			if b.has(".millrace") {
				t.Error("the state directory is left")
			}
		})
	}
}

// changingWhileRead runs pipelines on a file, and calls change after some bytes of the file have been read.
func changingWhileRead(t *testing.T, change func(b *backend) error) {
	t.Helper()
	content := "needle in a haystack\n" + strings.Repeat("the haystack it is in\n", largeFile/22)
	move := act("rename", obj{"files": []string{"large.txt"}, "to": "moved.txt"})
	for path, steps := range map[string][]obj{
		"large.txt":  {editFile("a.txt", "needle", "pin", id("first")), editFile("large.txt", "needle", "pin")},
		"copied.txt": {act("copy", obj{"files": []string{"large.txt"}, "to": "copied.txt"})},
		"moved.txt":  {move, editFile("moved.txt", "needle", "pin")},
	} {
		t.Run(path, func(t *testing.T) {
			eachCommitting(t, func(t *testing.T, b *backend) {
				b.plant(t, map[string]string{"large.txt": content})
				var done atomic.Bool
				var n atomic.Int64
				fsys := watchReads(b.fs, "large.txt", &n, func(reads int64) {
					if reads >= 1 && done.CompareAndSwap(false, true) {
						if err := change(b); err != nil {
							t.Error(err)
						}
					}
				})
				within(t, patience, func(ctx context.Context) {
					_, err := host().Run(ctx, fsys, decoded(t, steps...))
					wantForeign(t, err, path)
				})
				if !done.Load() {
					t.Fatal("large.txt was not changed while it was read")
				}
				// The tree has the other program's change, and no other change.
				for name, want := range planted {
					if got := b.content(t, name); got != want {
						t.Errorf("%s is %q", name, got)
					}
				}
				for _, name := range []string{"copied.txt", "moved.txt"} {
					if b.has(name) {
						t.Errorf("%s was made", name)
					}
				}
				if err := checkForeign(b, content); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// wantForeign fails the test unless err is a conflict or a drift and names the file.
func wantForeign(t *testing.T, err error, path string) {
	t.Helper()
	conflict, isConflict := errors.AsType[*millrace.ConflictError](err)
	_, isStep := errors.AsType[*millrace.StepError](err)
	switch {
	case isConflict && len(conflict.Conflicts) > 0:
	case isStep && errors.Is(err, names.ErrDrift):
	default:
		t.Errorf("want a conflict or a drift, got %T: %v", err, err)
		return
	}
	if !strings.Contains(err.Error(), path) && !strings.Contains(err.Error(), "large.txt") {
		t.Errorf("the error names neither %s nor large.txt: %v", path, err)
	}
}

// checkForeign checks that large.txt has the other program's change: its old content, extended or truncated.
func checkForeign(b *backend, content string) error {
	got, err := afero.ReadFile(b.fs, "large.txt")
	switch {
	case err != nil:
		return err
	case len(got) == len(content):
		return errors.New("the other program's change is lost")
	case !bytes.HasPrefix(append(got, strings.Repeat("+", largeFile)...), []byte(content)) && !strings.HasPrefix(content, string(got)):
		return errors.New("the run wrote to large.txt")
	}
	return nil
}

func TestHostile_file_grows_while_read(t *testing.T) {
	t.Parallel()
	changingWhileRead(t, func(b *backend) error {
		f, err := b.fs.OpenFile("large.txt", os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(bytes.Repeat([]byte("+"), largeFile))
		return errors.Join(err, f.Close())
	})
}

func TestHostile_file_truncated_while_read(t *testing.T) {
	t.Parallel()
	changingWhileRead(t, func(b *backend) error {
		f, err := b.fs.OpenFile("large.txt", os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Truncate(100), f.Close())
	})
}
