//go:build linux || darwin

package stage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestKeeper_handle continues to write with a handle after a delta, to pages that are already in the delta.
func TestKeeper_handle(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	f, err := k.Create("f")
	k.must(err)
	_, err = f.WriteString("first ")
	k.must(err)
	k.keep()
	_, err = f.WriteString("second")
	k.must(err)
	k.must(f.Close())
	k.keep()
	k.Stage, k.keeper, err = k.restored()
	k.must(err)
	if f, err = k.OpenFile("f", os.O_WRONLY|os.O_APPEND, 0); err == nil {
		_, err = f.WriteString(" third")
	}
	k.must(err)
	k.must(f.Close())
	k.keep()
	k.resume()
	if got := k.text("f"); got != "first second third" {
		t.Errorf("f is %q", got)
	}
	k.Rollback(k.keeper.Savepoint(1))
	if got := k.text("f"); got != "first " {
		t.Errorf("at the first delta f is %q", got)
	}
}

// TestKeeper_order adds files to a directory, continues with a restored stage, and renames the directory: the rename
// lists only files that were in it before.
func TestKeeper_order(t *testing.T) {
	t.Parallel()
	tellsBy := func(resumed bool) string {
		k := newKept(t, "d/old=1")
		for range 5 { // only one of them is written
			k.must(afero.WriteFile(k.For("first", false), "d/new", []byte("2"), 0o644))
		}
		k.must(k.For("edit", false).Edit("d/old", []change.Splice{{Len: 1, Text: []byte("x")}}))
		if k.keep(); resumed {
			k.resume()
		}
		k.must(k.For("move", false).Rename("d", "e"))
		if k.keep(); resumed {
			k.resume()
		}
		k.must(afero.WriteFile(k.For("last", false), "e/last", []byte("3"), 0o644))
		if k.keep(); resumed {
			k.resume()
		}
		changes, err := k.Changes()
		k.must(err)
		var b strings.Builder
		for _, c := range changes {
			fmt.Fprintln(&b, c.Kind, c.From, c.Path, c.By)
		}
		return b.String()
	}
	want := tellsBy(false)
	if !strings.Contains(want, "renamed d/old e/old [{edit 0} {move 0}]") ||
		!strings.Contains(want, "created  e/last [{last 0}]") {
		t.Fatalf("changes are\n%s", want)
	}
	if diff := cmp.Diff(want, tellsBy(true)); diff != "" {
		t.Errorf("who has made the changes (-straight +built again):\n%s", diff)
	}
}

// TestKeeper_rewound rolls back past deltas in each possible way, and continues from there.
func TestKeeper_rewound(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(k *keptStage, depth int) error{
		"at once": func(k *keptStage, depth int) error { k.Rollback(k.keeper.Savepoint(depth)); return nil },
		"step by step": func(k *keptStage, depth int) error {
			k.Rollback(k.keeper.Savepoint(depth + 1))
			k.Rollback(k.keeper.Savepoint(depth))
			return nil
		},
		"and a change later": func(k *keptStage, depth int) error {
			k.Rollback(k.keeper.Savepoint(depth))
			return k.Mkdir("more", 0o755)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKept(t, "a=1", "d/f=2")
			k.must(k.Rename("a", "b"))
			k.keep()
			at := k.told()
			for i := range 3 {
				k.must(afero.WriteFile(k.Stage, fmt.Sprintf("d/new%d", i), []byte("text"), 0o644))
				k.must(k.Rename("d", "x"))
				k.must(k.Rename("x", "d"))
				k.keep()
			}
			k.must(back(k, 1))
			if got := k.told(); got != at && name != "and a change later" {
				t.Errorf("afterwards the changes are\n%s\nwant\n%s", got, at)
			}
			k.must(afero.WriteFile(k.Stage, "d/other", []byte("other"), 0o644))
			data, depth, err := k.keeper.Delta()
			k.must(err)
			if depth != 1 {
				t.Errorf("the next delta follows the one of depth %d", depth)
			}
			k.deltas = [][]byte{k.deltas[0], data}
			k.resume()
			if got := k.text("d/other"); got != "other" {
				t.Errorf("d/other is %q", got)
			}
		})
	}
}

// TestKeeper_short: of a file with many edits, a delta has only the new edits and the new reports.
func TestKeeper_short(t *testing.T) {
	t.Parallel()
	k := newKept(t, "f="+strings.Repeat("line\n", 4000))
	var many []change.Splice
	for i := range 1000 {
		by := []change.Origin{{Step: "many", Edit: i}}
		many = append(many, change.Splice{Off: int64(i * 20), Len: 4, Text: []byte("text"), By: by})
	}
	k.must(k.Edit("f", many))
	k.must(k.Copy("f", "copy"))
	first := k.keep()
	k.must(k.For("one", false).Edit("f", []change.Splice{{Off: 5000 + 5, Len: 4, Text: []byte("word")}}))
	k.must(k.Chmod("copy", 0o600))
	second := k.keep()
	if len(first) > 30_000 || len(second) > 200 {
		t.Errorf("the deltas have %d and %d bytes", len(first), len(second))
	}
	k.resume()
	k.must(k.For("two", false).Edit("f", []change.Splice{{Off: 5000 + 5, Len: 4, Text: []byte("more")}}))
	if third := k.keep(); len(third) > 200 {
		t.Errorf("after a resume the delta has %d bytes", len(third))
	}
	k.resume()
	k.must(k.Edit("f", []change.Splice{{Off: 0, Len: 1}, {Off: 50, Len: 2, Text: []byte{}}}))
	k.keep()
	k.resume()
	if empty := k.keep(); len(empty) > 30 {
		t.Errorf("a delta of nothing has %d bytes", len(empty))
	}
	k.resume()
}

// TestKeeper_removals keeps the author of a removal, and whether the removed entry goes to the trash.
func TestKeeper_removals(t *testing.T) {
	t.Parallel()
	k := newKept(t, "a=1", "b=2", "c=3", "d=4", "dir/in/f=5")
	k.must(k.For("one", false).Remove("a"))
	k.must(k.For("two", false).Discard("b"))
	k.must(k.For("three", false).Rename("c", "d"))
	k.must(k.For("four", false).RemoveAll("dir"))
	k.must(k.For("five", false).Mkdir("dir", 0o755))
	k.must(k.For("six", false).Remove("dir"))
	k.keep()
	k.resume()
}

// TestKeeper_times keeps the times that were set, those of the base, and those of written files.
func TestKeeper_times(t *testing.T) {
	t.Parallel()
	k := newKept(t, "set=1", "moved=2", "touched=3", "d/")
	at := time.Date(1066, 10, 14, 9, 0, 0, 17, time.Local)
	k.must(k.Chtimes("set", at, at))
	k.must(k.Rename("moved", "elsewhere"))
	k.must(k.Chmod("touched", 0o600))
	k.must(k.Chmod("d", 0o700))
	k.must(k.SymlinkIfPossible("set", "link"))
	k.must(afero.WriteFile(k.Stage, "new", nil, 0o644))
	times := func() map[string]time.Time {
		all := make(map[string]time.Time)
		for _, name := range []string{"set", "elsewhere", "touched", "d", "link", "new", "."} {
			info, _, err := k.LstatIfPossible(name)
			k.must(err)
			all[name] = info.ModTime()
		}
		return all
	}
	want := times()
	k.keep()
	k.resume()
	if diff := cmp.Diff(want, times()); diff != "" || !want["set"].Equal(at) {
		t.Error(diff)
	}
}

// TestKeeper_versions: an old file keeps its version, with or without a delta for it.
func TestKeeper_versions(t *testing.T) {
	t.Parallel()
	k := newKept(t, "same=1", "edited=2", "moved=3", "d/f=4")
	k.must(k.Edit("edited", []change.Splice{{Len: 1, Text: []byte("x")}}))
	k.must(k.Rename("moved", "elsewhere"))
	k.must(afero.WriteFile(k.Stage, "new", []byte("text"), 0o644))
	versions := func() map[string]stage.Version {
		all := make(map[string]stage.Version)
		for _, name := range []string{"same", "edited", "elsewhere", "d/f", "d", "new"} {
			v, err := k.Version(name)
			k.must(err)
			all[name] = v
		}
		return all
	}
	want := versions()
	k.keep()
	k.resume()
	if diff := cmp.Diff(want, versions()); diff != "" {
		t.Error(diff)
	}
}

// TestKeeper_laterHash: a hash that becomes known after a file was written is written to the next delta, so that the
// file may be touched; after a rollback it is written again.
func TestKeeper_laterHash(t *testing.T) {
	t.Parallel()
	k := newKept(t, "f=text", "h=text")
	k.must(k.Rename("f", "g"))
	k.keep()
	for range 2 {
		k.must(k.Edit("g", []change.Splice{{Len: 1, Text: []byte("x")}}))
		k.keep()
		k.Rollback(k.keeper.Savepoint(1))
	}
	k.must(k.Edit("g", []change.Splice{{Len: 1, Text: []byte("x")}}))
	k.must(afero.WriteFile(k.Stage, "h", []byte("more"), 0o644))
	k.spill.err = errors.New("no room")
	if _, _, err := k.keeper.Delta(); err == nil {
		t.Error("there is a delta without its bytes")
	}
	k.spill.err = nil
	k.keep()
	k.must(k.root.Chtimes("f", time.Unix(1, 0), time.Unix(1, 0)))
	s, _, err := k.restored()
	k.must(err)
	k.Stage = s
	if got := k.text("g"); got != "xext" {
		t.Errorf("g is %q", got)
	}
}

// TestKeeper_hidden keeps which names are only other spellings. A rollback does not move these.
func TestKeeper_hidden(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "Readme", "x")
	base := folding(root)
	s := stage.New(base)
	k := stage.NewKeeper(s)
	fstest.Must(t, s.Rename("Readme", "README"))
	one, _, err := k.Delta()
	fstest.Must(t, err)
	s.Rollback(stage.Savepoint{})
	two, depth, err := k.Delta()
	if err != nil || depth != 0 {
		t.Fatal(depth, err)
	}
	for _, delta := range [][]byte{one, two} {
		again := stage.New(base)
		if _, err := stage.Restore(t.Context(), again, [][]byte{delta}); err != nil {
			t.Fatal(err)
		}
		if got := again.Respells("Readme", "README"); got {
			t.Error("the other spelling is visible")
		}
	}
}

// TestKeeper_spill: bytes are written to the spill once, whoever writes them, and a failure of the spill loses nothing.
func TestKeeper_spill(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	stage.SetLimits(k.Stage, 300<<10, 1<<20)
	text := strings.Repeat("0123456789abcdef", 64<<10) // 1 MiB, most of which goes to the spill at once
	k.must(afero.WriteFile(k.Stage, "f", []byte(text), 0o644))
	put := len(k.spill.data)
	if put == 0 {
		t.Fatal("nothing was spilled")
	}
	no := errors.New("no room")
	k.spill.err = no
	if _, _, err := k.keeper.Delta(); !errors.Is(err, no) {
		t.Errorf("error is %v", err)
	}
	k.spill.err = nil
	k.keep()
	if n := len(k.spill.data); n != len(text) {
		t.Errorf("%d bytes were spilled, want %d", n, len(text))
	}
	f, err := k.OpenFile("f", os.O_RDWR, 0)
	k.must(err)
	_, err = f.WriteAt([]byte("xx"), 200<<10)
	k.must(err)
	k.must(f.Close())
	k.keep()
	if n := len(k.spill.data) - len(text); n != 128<<10 {
		t.Errorf("one changed page spilled %d bytes", n)
	}
	k.resume()
	if want := text[:200<<10] + "xx" + text[200<<10+2:]; k.text("f") != want {
		t.Error("f has changed")
	}
}

// brokenSpill cannot be read.
type brokenSpill struct{ memSpill }

func (*brokenSpill) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

func TestKeeper_spillUnreadable(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.Stage.SetSpill(new(brokenSpill))
	stage.SetLimits(k.Stage, 0, 1<<20)
	k.must(afero.WriteFile(k.Stage, "f", bytes.Repeat([]byte("x"), 1<<20), 0o644))
	if _, _, err := k.keeper.Delta(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error is %v", err)
	}
}

// TestKeeper_noBase: a stage without a base has no deltas.
func TestKeeper_noBase(t *testing.T) {
	t.Parallel()
	s := stage.New(nil)
	if _, _, err := stage.NewKeeper(s).Delta(); err == nil {
		t.Error("there is a delta")
	}
	if left := stage.NewKeeper(s).RestOn([]string{"a"}); left != 0 {
		t.Error("something was left out")
	}
	if _, err := stage.Restore(t.Context(), s, nil); err == nil {
		t.Error("the stage was restored")
	}
}

// TestKeeper_noTree: the tree does not exist yet.
func TestKeeper_noTree(t *testing.T) {
	t.Parallel()
	base := afero.NewBasePathFs(afero.NewMemMapFs(), "missing")
	s := stage.New(base)
	k := stage.NewKeeper(s)
	fstest.Must(t, s.Mkdir("d", 0o755))
	fstest.Must(t, afero.WriteFile(s, "d/f", []byte("x"), 0o644))
	data, _, err := k.Delta()
	fstest.Must(t, err)
	again := stage.New(base)
	again.SetSpill(stage.SpillOf(s))
	_, err = stage.Restore(t.Context(), again, [][]byte{data})
	fstest.Must(t, err)
	if text, err := afero.ReadFile(again, "d/f"); err != nil || string(text) != "x" {
		t.Errorf("d/f is %q, %v", text, err)
	}
}
