package stage_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

func TestGuard_Portable(t *testing.T) {
	t.Parallel()
	portable, any := guard.Policy{Portable: true}, guard.Policy{}
	for _, name := range []string{
		"NUL", "nul", "con.txt", "d/Aux.tar.gz", "aux/f", "COM1", "com9.log", "LPT3", "COM\u00b9", "lpt\u00b2.txt", "com\u00b3", "COM0", "CONIN$",
		"conout$", "prn .txt", "f.", "f ", "d./f", "d /f", "...", "a:b", "C:", "f:stream", "a\\b", `C:\x`, "a<b", "a>b", `a"b`, "a|b", "a?b", "a*b", "a\nb", "a\x1fb",
	} {
		err := portable.CheckWrite(name)
		if e, ok := errors.AsType[*fs.PathError](err); !ok || !errors.Is(err, names.ErrNotPortable) || e.Path != name {
			t.Errorf("%q: %v, want ErrNotPortable", name, err)
		} else if why := strings.TrimPrefix(e.Err.Error(), names.ErrNotPortable.Error()); len(why) < len(": x is") {
			t.Errorf("%q: %q has no reason", name, err)
		}
		if err := any.CheckWrite(name); err != nil {
			t.Errorf("%q without the policy: %v", name, err)
		}
	}
	for _, name := range []string{
		"a.txt", "d/e/f", ".gitignore", "...a", "a b", " a", "console", "con-1", "com", "com10", "COMA", "lpt", "nulls", "auxiliary.txt", "xcon", "\u00b9", "com\u2074",
		"caf\u00e9", "a\x7fb", "-rf", "~", "$HOME", "%2e",
	} {
		if err := portable.CheckWrite(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A stage applies the rule for portable names to written paths, wherever links lead, and not to paths that are read.
func TestStage_portable(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "a", "x")
	fstest.Write(t, root, "con.txt", "x")
	if err := root.SymlinkIfPossible("con.txt", "link"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	s := stage.New(root)
	s.SetGuard(guard.Policy{Portable: true})
	if _, err := s.ReadFile("con.txt"); err != nil {
		t.Errorf("reading: %v", err)
	}
	for what, err := range map[string]error{
		"create": fstest.ErrOf(s.Create("NUL")), "create by a link": fstest.ErrOf(s.Create("link")), "mkdir": s.Mkdir("d.", 0o755), "mkdir above": s.MkdirAll("aux/d", 0o755),
		"rename to": s.Rename("a", "b:c"), "rename from": s.Rename("con.txt", "b"), "copy": s.Copy("a", "lpt1"), "remove": s.Remove("con.txt"),
		"symlink": s.SymlinkIfPossible("a", "com1"), "chmod": s.Chmod("con.txt", 0o600),
	} {
		if !errors.Is(err, names.ErrNotPortable) {
			t.Errorf("%s: %v, want ErrNotPortable", what, err)
		}
	}
	if changes, err := s.Changes(); err != nil || len(changes) > 0 {
		t.Errorf("changes %+v, %v", changes, err)
	}
}
