package runs_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestCanceledWhileALargeFileIsRead cancels runs at each read of a large file: they stop reading.
func TestCanceledWhileALargeFileIsRead(t *testing.T) {
	t.Parallel()
	const size, most = 8 << 20, 8
	large := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	for name, do := range map[string]actions.Action{
		"rename": actions.Rename{Files: []string{"large"}, To: "moved"},
		"copy":   actions.Copy{Files: []string{"large"}, To: "copied"},
		"delete": actions.Delete{Files: []string{"large"}, Permanent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canceled := 0
			for at := int64(1); ; at += 24 {
				root := fstest.OpenRoot(t, fstest.TempDir(t))
				fstest.Must(t, afero.WriteFile(root, "large", large, 0o644))
				ctx, cancel := context.WithCancel(t.Context())
				var reads, after atomic.Int64
				fsys := errorfs.Wrap(root, func(op *errorfs.Op, do func() error) error {
					if (op.Kind == "read" || op.Kind == "pread") && len(op.Data) > 4<<10 {
						if ctx.Err() != nil {
							after.Add(1)
						}
						if reads.Add(1) == at {
							cancel()
						}
					}
					return do()
				})
				_, err := millrace.Executor{State: millrace.State{NoSync: true}}.Run(ctx, fsys, millrace.New("p").Step("s", do).MustBuild())
				cancel()
				if reads.Load() < at {
					break
				}
				canceled++
				if n := after.Load(); n > most || err != nil && millrace.ErrorCode(err) != "canceled" {
					t.Errorf("canceled at read %d: %d more, %v", at, n, err)
				}
				got, rerr := afero.ReadFile(root, "large")
				if err != nil && (rerr != nil || !bytes.Equal(got, large)) {
					t.Errorf("canceled at read %d: the file is not as before: %v", at, rerr)
				}
			}
			if canceled == 0 && name != "delete" {
				t.Error("it read nothing")
			}
		})
	}
}
