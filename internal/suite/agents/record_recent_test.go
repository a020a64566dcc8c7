package agents_test

import (
	"io/fs"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// oneTick is a file system on which all changes have the same change time, as within one tick of a coarse clock.
type oneTick struct {
	*crashfs.Fs
	at time.Time
}

func (o oneTick) IdentityOf(of fs.FileInfo) (capability.Identity, bool) {
	id, ok := o.Fs.IdentityOf(of)
	id.CTime = o.at.UnixNano()
	return id, ok
}

// A recorded answer is not used for other bytes, even if the times of a file do not show that another program has
// written to it.
func TestOtherBytesOfOneTick(t *testing.T) {
	t.Parallel()
	base := oneTick{crashfs.New(), time.Now().Add(time.Hour)} // so that the file counts as recent
	write := func(text string) {
		t.Helper()
		at := time.Unix(1_700_000_000, 0)
		fstest.Must(t, afero.WriteFile(base, "a.txt", []byte(text), 0o644))
		fstest.Must(t, base.Chtimes("a.txt", at, at))
	}
	h := new(host)
	x := executor(t, h)
	x.Recorder = millrace.NewMemoryRecorder()
	p := millrace.New("p").Step("a", actions.Prompt{Prompt: "p"}).MustBuild()
	for i, test := range []struct {
		text  string
		asked int // total so far
	}{{"one\n", 1}, {"one\n", 1}, {"ONE\n", 2}, {"ONE\n", 2}} {
		write(test.text)
		plan, err := x.Plan(t.Context(), base, p)
		fstest.Must(t, err)
		fstest.Must(t, plan.Close())
		if len(h.asked) != test.asked {
			t.Errorf("plan %d: asked %d times, want %d", i, len(h.asked), test.asked)
		}
	}
}
