package scratch_test

import (
	"context"
	"io/fs"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// slowClock is a file system on which all changes have the same change time, as within one tick of a coarse clock.
type slowClock struct {
	*crashfs.Fs
	changed time.Time
}

func (s slowClock) IdentityOf(of fs.FileInfo) (capability.Identity, bool) {
	id, ok := s.Fs.IdentityOf(of)
	id.CTime = s.changed.UnixNano()
	return id, ok
}

// A file that was changed shortly before an answer is compared by its bytes, because its times would not show a second
// change. A file that was changed long ago is identified by its times.
func TestRests_bytesOfRecentFiles(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		age    time.Duration // age of the last change before the answer
		change func(fsys afero.Fs) error
		ctx    context.Context
		recent int
		are    bool
	}{
		"nothing has changed":         {0, nil, t.Context(), 2, true},
		"other bytes, the same times": {0, rewritten("a.txt", "ONE\n"), t.Context(), 2, false},
		"the same bytes again":        {0, rewritten("a.txt", "one\n"), t.Context(), 2, true},
		"other bytes below":           {0, rewritten("d/b.txt", "TWO\n"), t.Context(), 2, false},
		"a file is gone":              {0, func(fsys afero.Fs) error { return fsys.Remove("d/b.txt") }, t.Context(), 2, false},
		"another file":                {0, rewritten("c.txt", "new\n"), t.Context(), 2, true}, // Sum differs
		"changed long ago":            {time.Hour, nil, t.Context(), 0, true},
		"the context has ended":       {0, nil, ended, 2, false},
	} {
		base := slowClock{crashfs.New(), time.Now().Add(-test.age)}
		fstest.Must(t, base.Mkdir("d", 0o755))
		fstest.Must(t, rewritten("a.txt", "one\n")(base))
		fstest.Must(t, rewritten("d/b.txt", "two\n")(base))
		then, err := scratch.RestsOf(t.Context(), stage.New(base))
		fstest.Must(t, err)
		if len(then.Recent) != test.recent {
			t.Errorf("%s: recent files are %v", name, then.Recent)
		}
		if test.change != nil {
			fstest.Must(t, test.change(base))
		}
		view := stage.New(base)
		if got := then.AreOf(test.ctx, view); got != test.are {
			t.Errorf("%s: AreOf returns %v", name, got)
		}
		now, err := scratch.RestsOf(t.Context(), view)
		fstest.Must(t, err)
		_, gone := base.Stat("d/b.txt")
		_, absent := base.Stat("c.txt")
		if isSame := gone == nil && absent != nil; isSame != (now.Sum == then.Sum) {
			t.Errorf("%s: the sums are equal: %v", name, now.Sum == then.Sum)
		}
	}
}

// rewritten returns a function that writes a file and resets its time.
func rewritten(name, text string) func(fsys afero.Fs) error {
	return func(fsys afero.Fs) error {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			return err
		}
		at := time.Unix(1_700_000_000, 0)
		return fsys.Chtimes(name, at, at)
	}
}
