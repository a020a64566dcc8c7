package actions_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/stage"
)

// swapping replaces the bytes of a file by others of the same length and time when it is opened for the second time.
type swapping struct {
	afero.Fs
	name, text string
	opens      int
}

func (s *swapping) Open(name string) (afero.File, error) {
	if s.opens++; s.opens == 2 {
		if err := afero.WriteFile(s.Fs, s.name, []byte(s.text), 0o644); err != nil {
			return nil, err
		}
		if err := s.Chtimes(s.name, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
			return nil, err
		}
	}
	return s.Fs.Open(name)
}

// swapped returns a call on a file that is swapped when it is read for the second time.
func swapped(t *testing.T) (*actions.Call, *stage.Stage, *swapping) {
	t.Helper()
	mem := afero.NewMemMapFs()
	write(t, mem, files{"f": strings.Repeat("a b\n", 50)})
	if err := mem.Chtimes("f", time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	base := &swapping{Fs: mem, name: "f", text: strings.Repeat("c b\n", 50)}
	s := stage.New(base)
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	c := &actions.Call{FS: (*fsutil.Stage)(s.For("s", false)), Step: "s", Files: []string{"f"}}
	actions.SetPieces(c, 0, 64, 0)
	return c, s, base
}

// TestRulesReadTheSameBytes: a file that does not fit into one window is read once for each rule. A match must not be
// staged if the next rule read other bytes.
func TestRulesReadTheSameBytes(t *testing.T) {
	t.Parallel()
	for name, action := range map[string]actions.Action{
		"sequential":   actions.MultiEdit{Edits: edits("a", "11", "b", "22")},
		"simultaneous": actions.MultiEdit{Mode: "simultaneous", Edits: edits("a", "11", "b", "22")},
		"then held as a whole": actions.RegexTransform{Patterns: []actions.PatternEdit{
			{Pattern: "a", Replacement: "11"}, {Pattern: `b\n+`, Replacement: "22\n"},
		}},
	} {
		c, s, base := swapped(t)
		_, err := action.Run(t.Context(), c)
		if !errors.Is(err, fsutil.ErrDrift) {
			t.Errorf("%s: %v, want ErrDrift", name, err)
		}
		if info, err := s.Stat("f"); err != nil || info.Size() != 200 || base.opens < 2 {
			t.Errorf("%s: %v, %v after %d times of opening it; want the file as it was", name, info, err, base.opens)
		}
	}
}

// TestLinesReadTheSameBytes: a file that does not fit into one window is read for its hash first, then for its text.
// Both must see the same bytes.
func TestLinesReadTheSameBytes(t *testing.T) {
	t.Parallel()
	changed := actions.ReplaceLines(1, 1, "x\n")
	changed.ContentHash = change.HashOf([]byte(strings.Repeat("a b\n", 50))).String()
	for name, action := range map[string]actions.Action{
		"read_ranges": actions.ReadRanges{Ranges: ranges(2, 3, -1, -1)},
		"edit_files":  one("f", changed, actions.ReplaceText("c b\nc b\nc b\n", "y")),
	} {
		c, s, base := swapped(t)
		if _, err := action.Run(t.Context(), c); !errors.Is(err, fsutil.ErrDrift) {
			t.Errorf("%s: %v, want ErrDrift", name, err)
		}
		if info, err := s.Stat("f"); err != nil || info.Size() != 200 || base.opens < 2 {
			t.Errorf("%s: %v, %v after %d times of opening it; want the file as it was", name, info, err, base.opens)
		}
	}
}
