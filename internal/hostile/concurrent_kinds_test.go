package hostile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// backendOver is a plain or other backend on the directory of b.
func backendOver(t *testing.T, b *backend, name string) *backend {
	t.Helper()
	fsys, err := opened(name, b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if root, ok := fsys.(*rootfs.FS); ok {
		t.Cleanup(func() { root.Close() })
	}
	other := *b
	other.name, other.fs = name, fsys
	return &other
}

// Two kinds of file systems use the same directory. During a run through the first, the second neither runs nor
// recovers.
func TestHostile_two_kinds_of_file_system_over_one_directory(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"root", "os", "plain", "hiding"} {
		for _, second := range []string{"root", "plain", "hiding"} {
			t.Run(first+"/"+second, func(t *testing.T) {
				t.Parallel()
				if second == "hiding" && (first == "root" || first == "os") {
					t.Skip("a RootFs uses a lock of the system, which needs handles that the other one hides")
				}
				a := newBackend(t, "root")
				a = backendOver(t, a, first)
				b := backendOver(t, a, second)
				h := startHolder(t, a, "sync")
				middle := b.snapshot(t)
				impatient := host()
				impatient.State.LockWait = 30 * time.Millisecond
				if _, err := impatient.Recover(t.Context(), b.fs); !errors.Is(err, capability.ErrLocked) {
					t.Errorf("Recover: %v, want ErrLocked", err)
				}
				if _, err := impatient.Run(t.Context(), b.fs, countUp(t)); !errors.Is(err, capability.ErrLocked) {
					t.Errorf("Run: %v, want ErrLocked", err)
				}
				b.same(t, middle, b.snapshot(t))
				h.release(t)
				x := host()
				x.State.LockWait = patience
				within(t, patience, func(ctx context.Context) {
					if _, err := x.Run(ctx, b.fs, countUp(t)); err != nil {
						t.Error(err)
					}
				})
				if got := b.content(t, "a.txt"); got != "++alpha needle\n" {
					t.Errorf("a.txt is %q", got)
				}
			})
		}
	}
}
