package lsp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/lsp"
)

const root = "/r o#o%t"

func names() []string {
	return []string{"a.txt", "b.txt", "é 😀?.txt", "d", "d/a.txt", "d/b#.txt", "d/e", "d/e/a.txt", "d/e/f", "g/a.txt", "g/h/i.txt"}
}

// deed is one change that a step makes in the stage.
type deed struct {
	What, Name, To string
	Text           string
	At, Len        int // of an edit, in characters
}

func drawnText(t *rapid.T, label string) string {
	pieces := []string{"a", "foo", " ", "\n", "\n", "\r\n", "\r\n", "\r", "😀", "😁", "é", "è", "\u2028", "\ufeff", "x\ny\n", "𝕏"}
	list := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, label)
	if rapid.IntRange(0, 3).Draw(t, "mark") == 0 {
		list = slices.Insert(list, 0, "\ufeff")
	}
	return strings.Join(list, "")
}

func drawnDeed(t *rapid.T) deed {
	d := deed{
		What: rapid.SampledFrom([]string{"edit", "edit", "edit", "edit", "rename", "rename", "rename", "swap", "write", "remove", "mkdir", "chmod", "link"}).Draw(t, "what"),
		Name: rapid.SampledFrom(names()).Draw(t, "name"),
	}
	switch d.What {
	case "rename", "swap":
		d.To = rapid.SampledFrom(names()).Draw(t, "to")
	case "edit", "write":
		d.Text = drawnText(t, "text")
		d.At, d.Len = rapid.IntRange(0, 8).Draw(t, "at"), rapid.IntRange(0, 3).Draw(t, "len")
	}
	return d
}

// do makes the change, if it is possible.
func (d deed) do(s *fsutil.Stage) {
	switch d.What {
	case "rename":
		_ = s.MkdirAll(path.Dir(d.To), 0o755)
		_ = s.Rename(d.Name, d.To)
	case "swap":
		if s.Rename(d.Name, "aside") == nil {
			_ = s.Rename(d.To, d.Name)
			_ = s.Rename("aside", d.To)
		}
	case "write":
		_ = s.MkdirAll(path.Dir(d.Name), 0o755)
		_ = afero.WriteFile(s, d.Name, []byte(d.Text), 0o644)
	case "remove":
		_ = s.RemoveAll(d.Name)
	case "mkdir":
		_ = s.MkdirAll(d.Name, 0o755)
	case "chmod":
		_ = s.Chmod(d.Name, 0o755)
	case "link":
		_ = s.SymlinkIfPossible("a.txt", d.Name)
	case "edit":
		data, err := s.ReadFile(d.Name)
		if err != nil {
			return
		}
		_ = s.Edit(d.Name, []change.Splice{d.splice(string(data))})
	}
}

// splice replaces some characters, but only the bytes that differ, so it may begin and end within a character.
func (d deed) splice(text string) change.Splice {
	chars := []rune(text)
	from := min(d.At, len(chars))
	to := min(from+d.Len, len(chars))
	old, now := string(chars[from:to]), d.Text
	off := len(string(chars[:from]))
	for old != "" && now != "" && old[0] == now[0] {
		old, now, off = old[1:], now[1:], off+1
	}
	for old != "" && now != "" && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	return change.Splice{Off: int64(off), Len: int64(len(old)), Text: []byte(now)}
}

// sample is one edit with the trees before and after.
type sample struct {
	Before, After map[string]string
	Edit          json.RawMessage
}

// TestSameAsCommit compares the workspace edit of random changes with a commit of the same changes.
func TestSameAsCommit(t *testing.T) {
	var samples []sample
	partial := 0
	rapid.Check(t, func(t *rapid.T) {
		fsys := crashfs.New()
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names()), 1, 8).Draw(t, "files") {
			if fsys.MkdirAll(path.Dir(name), 0o755) != nil {
				continue // a file stands in the way
			}
			text := []byte(drawnText(t, name))
			if info, err := fsys.Stat(name); err == nil && info.IsDir() {
				continue
			}
			if err := afero.WriteFile(fsys, name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b := millrace.New("drawn")
		for i := range rapid.IntRange(1, 3).Draw(t, "steps") {
			deeds := rapid.SliceOfN(rapid.Custom(drawnDeed), 1, 4).Draw(t, "deeds")
			b = b.Add(millrace.Step{ID: fmt.Sprint("s", i), Action: suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
				for _, d := range deeds {
					d.do(c.FS)
				}
				return actions.Outcome{}, nil
			}}}).Builder
		}
		plan, err := millrace.Executor{}.Plan(context.Background(), fsys, b.MustBuild())
		if err != nil {
			t.Fatal(err)
		}
		encoding := rapid.SampledFrom([]lsp.Encoding{"", lsp.UTF16, lsp.UTF8, lsp.UTF32}).Draw(t, "encoding")
		options := lsp.Options{Root: root, Encoding: encoding}
		edit, err := lsp.From(plan, options)
		if unsupported, ok := errors.AsType[*lsp.UnsupportedError](err); ok {
			options.Partial = true
			edit, err = lsp.From(plan, options)
			if d := cmp.Diff(unsupported.Changes, edit.LeftOut); d != "" {
				t.Fatalf("the error lists something else (-error +left out):\n%s", d)
			}
			partial++
		}
		if err != nil {
			t.Fatal(err)
		}
		checkEdit(t, plan, edit)
		data, err := json.Marshal(edit)
		if err != nil {
			t.Fatal(err)
		}
		before := treeOf(t, fsys)
		got := maps.Clone(before)
		if err := got.apply(data, root, encoding); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if _, err := plan.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := treeOf(t, fsys)
		leaveOut(edit.LeftOut, plan, got, want)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("left out: %v\n%s\n(-commit +edit):\n%s", edit.LeftOut, data, d)
		}
		if len(edit.LeftOut) == 0 && (encoding == "" || encoding == lsp.UTF16) {
			samples = append(samples, sample{before.texts(), want.texts(), data})
		}
	})
	t.Logf("%d whole edits in UTF-16, %d edits that leave something out", len(samples), partial)
	if !testing.Short() && (len(samples) < 5 || partial == 0) {
		t.Errorf("that is too few")
	}
	checkByNode(t, samples)
}

// leaveOut removes from both trees the paths that the edit left out, and the directories, because directories may stay
// for those paths.
func leaveOut(list []lsp.Unsupported, plan *millrace.Plan, got, want tree) {
	if len(list) == 0 {
		return
	}
	out := make(map[string]bool)
	for _, u := range list {
		for _, c := range plan.Changes() {
			if c.Path == u.Path {
				out[c.Path], out[c.OldPath()] = true, true
			}
		}
	}
	for _, all := range []tree{got, want} {
		maps.DeleteFunc(all, func(name string, data []byte) bool { return data == nil || out[name] })
	}
}

// texts returns the files of a tree.
func (all tree) texts() map[string]string {
	texts := make(map[string]string)
	for name, data := range all {
		if data != nil {
			texts[name] = string(data)
		}
	}
	return texts
}

// checkEdit checks rules that hold for every edit.
func checkEdit(t *rapid.T, plan *millrace.Plan, edit lsp.WorkspaceEdit) {
	stage := 0
	used := make(map[string]bool)
	for _, c := range edit.DocumentChanges {
		now := 0
		switch c := c.(type) {
		case *lsp.CreateFile:
			now = 1
			used[c.AnnotationID] = true
		case *lsp.TextDocumentEdit:
			now = 2
			if len(c.Edits) == 0 {
				t.Fatalf("no edits of %s", c.TextDocument.URI)
			}
			for _, e := range c.Edits {
				used[e.AnnotationID] = true
			}
		case *lsp.RenameFile:
			used[c.AnnotationID] = true
		case *lsp.DeleteFile:
			used[c.AnnotationID] = true
		}
		if now < stage {
			t.Fatalf("a %T comes late", c)
		}
		stage = now
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(edit.ChangeAnnotations))); d != "" {
		t.Fatalf("annotations (-used +there):\n%s", d)
	}
	again, err := lsp.From(plan, lsp.Options{Root: root, Partial: true})
	same, err2 := lsp.From(plan, lsp.Options{Root: root, Partial: true})
	first, err3 := json.Marshal(again)
	second, err4 := json.Marshal(same)
	if err := errors.Join(err, err2, err3, err4); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%v: not the same the second time:\n%s\n%s", err, first, second)
	}
}
