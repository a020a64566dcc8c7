package commit_test

import (
	"fmt"
	"maps"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// handing is a hooked file system whose files expose their handles if they are opened for reading.
type handing struct {
	afero.Fs
	afero.Symlinker
}

type handingFile struct{ *errorfs.File }

func (f handingFile) Fd() uintptr { return f.File.File.(interface{ Fd() uintptr }).Fd() }

func (h handing) Open(n string) (afero.File, error) {
	f, err := h.Fs.Open(n)
	if err != nil {
		return nil, err
	}
	return handingFile{f.(*errorfs.File)}, nil
}

// TestKill_otherKind kills a process that accesses the directory in one way, and recovers in another way, which
// identifies files differently.
func TestKill_otherKind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("handles do not distinguish directories here")
	}
	for _, first := range []string{"root", "plain"} {
		for _, sc := range crashScenarios() {
			t.Run(first+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				eachMoment(t, fstest.Slowed(35, 7), func(at int) bool { return killedInOtherKind(t, first, sc, at) })
			})
		}
	}
}

func killedInOtherKind(t *testing.T, first string, sc scenario, at int) (killed bool) {
	t.Helper()
	root, err := rootfs.Open(fstest.TempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	plain := errorfs.Plain(root)
	tr := newTrial(t, root, sc)
	old := untimed(snapshot(t, root, false))
	o, other := tr.options(), afero.Fs(plain)
	if first == "plain" {
		other = root
		hooked := withHooks(plain, tr.hooks)
		o.FS = handing{hooked, hooked.(afero.Symlinker)}
	}
	kill, change := killAt(at), 0
	tr.hooks.before = func(_ int, op string, writes bool, name string) error {
		if writes {
			change++
		}
		err := kill(change, op, writes, name)
		killed = killed || err != nil
		return err
	}
	lock, err := commit.Lock(bg, options(root)) // the killed process cannot have kept its own, but this one still runs
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	o.Lock = lock
	_, applied := commit.Apply(bg, o, tr.changes)
	then := options(other)
	then.Lock = lock
	if r, err := commit.Recover(bg, then); err != nil {
		t.Fatalf("killed at %d: %+v, %v", at, r, err)
	}
	what := fmt.Sprintf("killed at %d (%v)", at, applied)
	if names, _ := afero.ReadDir(root, stateDir+"/tx"); len(names) > 0 {
		t.Errorf("%s: left over: %v", what, names)
	}
	got := untimed(snapshot(t, root, false))
	if isOld, isNew := maps.Equal(got, old), maps.Equal(got, tr.new); !isNew && (!isOld || applied == nil) {
		t.Errorf("%s: (-old +got):\n%s(-new +got):\n%s", what, cmp.Diff(old, got), cmp.Diff(tr.new, got))
	}
	return killed
}
