package whole_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
)

// drawer draws trees, and steps on few names, so that steps often use the same name.
type drawer struct {
	*rand.Rand
	log []string
}

func (d *drawer) name() string {
	parts := []string{string(rune('a' + d.IntN(3))), string(rune('d' + d.IntN(2))), string(rune('f' + d.IntN(2)))}
	return strings.Join(parts[:1+d.IntN(3)], "/")
}

// text returns a few lines, sometimes without the last line end, and sometimes binary.
func (d *drawer) text() string {
	var b strings.Builder
	for range d.IntN(12) {
		fmt.Fprintf(&b, "line %d x\n", d.IntN(6))
	}
	switch d.IntN(8) {
	case 0:
		b.WriteString("no line end")
	case 1:
		b.WriteString("\x00binary\xff")
	}
	return b.String()
}

// plant makes a tree of files and links.
func (d *drawer) plant(t *testing.T, dir string) {
	t.Helper()
	for range 8 {
		name := d.name()
		at := filepath.Join(dir, name)
		if os.MkdirAll(filepath.Dir(at), 0o755) != nil {
			continue
		}
		if _, err := os.Lstat(at); err == nil {
			continue
		}
		var err error
		if d.IntN(5) == 0 {
			err = os.Symlink([]string{"a", "d", "nowhere"}[d.IntN(3)], at)
		} else {
			err = os.WriteFile(at, []byte(d.text()), []os.FileMode{0o644, 0o755, 0o600}[d.IntN(3)])
		}
		if err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
		d.log = append(d.log, "there is "+name)
	}
}

// step draws a step that works on the stage, perhaps with several changes. Impossible changes are left out.
func (d *drawer) step() actions.Action {
	n, seed := 1+d.IntN(5), d.Uint64()
	return suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		in := &drawer{Rand: rand.New(rand.NewPCG(seed, 0))}
		for range n {
			in.work(c.FS)
		}
		d.log = append(d.log, in.log...)
		return actions.Outcome{}, nil
	}}
}

func (d *drawer) work(s *fsutil.Stage) {
	a, b := d.name(), d.name()
	var what string
	var err error
	switch d.IntN(11) {
	case 0, 1:
		what, err = "rename "+a+" "+b, s.Rename(a, b)
	case 2:
		what, err = "remove "+a, s.RemoveAll(a)
	case 3:
		what, err = "write "+a, afero.WriteFile(s, a, []byte(d.text()), 0o644)
	case 4:
		what, err = "make directories "+a, s.MkdirAll(a, 0o755)
	case 5:
		what, err = "link "+a, s.SymlinkIfPossible("d", a)
	case 6:
		what, err = "copy "+a+" "+b, s.Copy(a, b)
	case 7:
		what, err = "chmod "+a, s.Chmod(a, 0o755)
	case 8:
		what = "edit " + a
		var data []byte
		if data, err = s.ReadFile(a); err == nil {
			if at := strings.IndexByte(string(data), 'x'); at >= 0 {
				err = s.Edit(a, []change.Splice{{Off: int64(at), Len: 1, Text: []byte("y\nz")}})
			}
		}
	default:
		if !strings.HasPrefix(a+"/", b+"/") && !strings.HasPrefix(b+"/", a+"/") {
			what, err = "remove "+a+", rename "+b+" "+a, cmp.Or(s.RemoveAll(a), s.Rename(b, a))
		}
	}
	if err == nil && what != "" {
		d.log = append(d.log, what)
	}
}

// pipeline draws a pipeline whose steps may fail.
func (d *drawer) pipeline() millrace.Pipeline {
	b := millrace.New("p").Options(millrace.Options{Force: true, ContinueOnError: true}).Step("first", d.step())
	for n := range d.IntN(3) {
		b = b.Step(fmt.Sprint("s", n), d.builtin())
	}
	return b.MustBuild()
}

// builtin draws a built-in step. It may fail.
func (d *drawer) builtin() actions.Action {
	a, b := d.name(), d.name()
	n := d.IntN(12)
	if n == 10 && runtime.GOOS == "windows" {
		n = 11 // without a shell
	}
	d.log = append(d.log, fmt.Sprintf("then built-in step %d of %s and %s", n, a, b))
	switch n {
	case 0:
		return actions.Create{Path: a, Content: strings.ToValidUTF8(d.text(), "?"), Overwrite: true}
	case 1:
		return actions.Copy{Files: []string{a}, To: b, Overwrite: true}
	case 2:
		return actions.Rename{Files: []string{a}, To: b, Overwrite: true}
	case 3:
		return actions.Delete{Files: []string{a}, Recursive: true, Permanent: d.IntN(2) == 0}
	case 4:
		return actions.MultiEdit{Files: []string{a}, Edits: []actions.TextEdit{{OldText: "line", NewText: "row"}, {OldText: "x\n", NewText: "y"}}}
	case 5:
		return actions.RegexTransform{Files: []string{a}, Patterns: []actions.PatternEdit{{Pattern: `(\d) x\n`, Replacement: "x ${1}\n\n"}}}
	case 6:
		lines := []actions.LineEdit{actions.AppendText("more"), actions.InsertAfter(d.IntN(3), "in\nserted")}
		return actions.EditFiles{OnError: "continue", FileEdits: []actions.FileEdits{
			{Path: a, Edits: lines}, {Path: b + "2", Edits: []actions.LineEdit{actions.CreateText("made\n")}},
		}}
	case 7:
		return actions.PatternReplace{FilePattern: "**/*", SedPattern: []string{"2d", "s/line/&s/", "y/x/z/"}, Binary: d.IntN(2) == 0}
	case 8:
		return actions.Patch{Text: fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnew file mode 100755\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1 @@\n+x\n", a), Overwrite: true}
	case 9:
		return actions.Patch{Text: fmt.Sprintf("diff --git a/%[1]s b/%[2]s\nsimilarity index 100%%\nrename from %[1]s\nrename to %[2]s\n", a, b)}
	case 10:
		script := fmt.Sprintf("mv %s %s; rm -rf %s; echo new >> %s; chmod 755 a", a, b, d.name(), d.name())
		return actions.Exec{Shell: script + "; true"}
	default:
		return actions.Edit{Files: []string{a}, OldText: "x", NewText: "y"}
	}
}

// staged returns an action that works on the stage.
func staged(do func(s afero.Fs) error) func(context.Context, *actions.Call) (actions.Outcome, error) {
	return func(_ context.Context, c *actions.Call) (actions.Outcome, error) { return actions.Outcome{}, do(c.FS) }
}

func sortedText(names []string) string {
	slices.Sort(names)
	return strings.Join(names, " ")
}
