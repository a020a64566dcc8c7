package commit_test

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/commit"
)

// deviceFs is a mountFs whose other mount has another number of device, as most have. It counts what is tried across.
type deviceFs struct {
	mountFs
	crossed *atomic.Int64
}

type otherDevice struct{ fs.FileInfo }

func (f deviceFs) LstatIfPossible(n string) (os.FileInfo, bool, error) {
	info, ok, err := f.mountFs.LstatIfPossible(n)
	if err == nil && fsutil.Within(n, "m") {
		info = otherDevice{info}
	}
	return info, ok, err
}

func (f deviceFs) IdentityOf(info fs.FileInfo) (fsutil.Identity, bool) {
	other, is := info.(otherDevice)
	if is {
		info = other.FileInfo
	}
	id, ok := any(f.mountFs).(fsutil.Identifier).IdentityOf(info)
	if is {
		id.Dev++
	}
	return id, ok
}

func (f deviceFs) count(err error) error {
	if errors.Is(err, syscall.EXDEV) {
		f.crossed.Add(1)
	}
	return err
}

func (f deviceFs) Rename(a, b string) error          { return f.count(f.mountFs.Rename(a, b)) }
func (f deviceFs) Exchange(a, b string) error        { return f.count(f.mountFs.Exchange(a, b)) }
func (f deviceFs) RenameNoReplace(a, b string) error { return f.count(f.mountFs.RenameNoReplace(a, b)) }

// TestMount_seen has changes on a mount that can be told from the rest: nothing is renamed across in vain, and nothing begun
// twice.
func TestMount_seen(t *testing.T) {
	t.Parallel()
	for _, sc := range mountCases() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			fsys := deviceFs{mountFs{rootFs(t).(*fsutil.RootFs)}, new(atomic.Int64)}
			plant(t, fsys, sc.tree...)
			want := preview(t, fsys, sc.do)
			changes := staged(t, fsys, sc.do)
			begun := 0
			o := options(afero.Fs(fsys))
			o.Observe = func(phase string) {
				if phase == "verify" {
					begun++
				}
			}
			rep, err := commit.Apply(bg, o, changes)
			if err != nil || len(rep.Warnings) > 0 {
				t.Fatalf("%+v, %v", rep, err)
			}
			if diff := cmp.Diff(want, untimed(snapshot(t, fsys, false))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if n := fsys.crossed.Load(); n > 0 || begun != 1 {
				t.Errorf("begun %d times, %d renames across", begun, n)
			}
		})
	}
}
