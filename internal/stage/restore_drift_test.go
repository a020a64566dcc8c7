//go:build linux

package stage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// driftTree returns a stage with five deltas: an edit, a rename, a removed file, a removed and a moved directory, a
// directory that was moved and then removed, files that were only matched, and a new file.
func driftTree(t *testing.T) *keptStage {
	k := newKept(t, "edited=text", "renamed=text", "gone=text", "old/in/f=text", "old/empty/", "moved/in/f=text",
		"src/in/matched=text", "other/f=text", "linked/f=text", "both/in/f=text")
	k.must(os.Symlink("edited", filepath.Join(k.dir, "link")))
	k.keep()
	k.must(k.For("one", false).Edit("edited", []change.Splice{{Off: 0, Len: 1, Text: []byte("T")}}))
	k.must(k.Edit("linked/f", []change.Splice{{Off: 0, Len: 1, Text: []byte("T")}}))
	k.keep()
	k.must(k.Rename("renamed", "elsewhere"))
	k.must(k.Remove("gone"))
	k.must(k.Rename("link", "link2"))
	k.keep()
	k.must(k.RemoveAll("old"))
	k.must(k.Rename("moved", "here"))
	k.must(k.Rename("both", "there"))
	k.keep()
	k.must(k.RemoveAll("there"))
	k.must(k.Mkdir("other/new", 0o755))
	k.must(afero.WriteFile(k.Stage, "other/new/f", nil, 0o644))
	k.must(afero.WriteFile(k.Stage, "made", nil, 0o644))
	if left := k.keeper.RestOn([]string{"src/in/matched", "src", "missing", "made", "edited"}); left != 0 {
		k.t.Errorf("%d were left out", left)
	}
	k.keep()
	return k
}

// TestRestore_drift changes the base in one way between a run and its resumption.
func TestRestore_drift(t *testing.T) {
	t.Parallel()
	sameTime := func(name string, do func() error) error {
		info, err := os.Stat(name)
		if err == nil {
			err = do()
		}
		if err == nil {
			err = os.Chtimes(name, info.ModTime(), info.ModTime())
		}
		return err
	}
	write := func(at func(string) string, name, text string) error {
		return os.WriteFile(at(name), []byte(text), 0o644)
	}
	tests := map[string]struct {
		change func(at func(string) string) error
		want   []stage.Drift // nil for none
	}{
		"nothing":             {func(at func(string) string) error { return nil }, nil},
		"other files":         {func(at func(string) string) error { return write(at, "src/more", "x") }, nil},
		"content, same size":  {func(at func(string) string) error { return write(at, "edited", "TEXT") }, []stage.Drift{{Path: "edited", Reason: "content", Delta: 1}}},
		"content, other size": {func(at func(string) string) error { return write(at, "edited", "longer") }, []stage.Drift{{Path: "edited", Reason: "content", Delta: 1}}},
		"content, same time too": {func(at func(string) string) error {
			return sameTime(at("edited"), func() error { return write(at, "edited", "TEXT") })
		}, []stage.Drift{{Path: "edited", Reason: "content", Delta: 1}}},
		"touched, and known": {func(at func(string) string) error { return os.Chtimes(at("edited"), time.Unix(1, 0), time.Unix(1, 0)) }, nil},
		"written again, and known": {func(at func(string) string) error {
			return errors.Join(os.Remove(at("edited")), write(at, "edited", "text"))
		}, nil},
		"touched, and not known":  {func(at func(string) string) error { return os.Chtimes(at("renamed"), time.Unix(1, 0), time.Unix(1, 0)) }, []stage.Drift{{Path: "renamed", Reason: "content", Delta: 2}}},
		"a removed file, changed": {func(at func(string) string) error { return write(at, "gone", "TEXT") }, []stage.Drift{{Path: "gone", Reason: "content", Delta: 2}}},
		"a removed file, removed": {func(at func(string) string) error { return os.Remove(at("gone")) }, []stage.Drift{{Path: "gone", Reason: "removed", Delta: 2}}},
		"a matched file, changed": {func(at func(string) string) error { return write(at, "src/in/matched", "TEXT") }, []stage.Drift{{Path: "src/in/matched", Reason: "content", Delta: 4}}},
		"removed with its directory": {func(at func(string) string) error { return os.RemoveAll(at("src")) },
			[]stage.Drift{{Path: "src/in/matched", Reason: "removed", Delta: 4}}},
		"mode": {func(at func(string) string) error { return os.Chmod(at("edited"), 0o600) }, []stage.Drift{{Path: "edited", Reason: "mode", Delta: 1}}},
		"kind": {func(at func(string) string) error {
			return errors.Join(os.Remove(at("edited")), os.Mkdir(at("edited"), 0o755))
		}, []stage.Drift{{Path: "edited", Reason: "kind", Delta: 1}}},
		"a link there": {func(at func(string) string) error {
			return errors.Join(os.Rename(at("edited"), at("x")), os.Symlink("x", at("edited")))
		}, []stage.Drift{{Path: "edited", Reason: "kind", Delta: 1}}},
		"target": {func(at func(string) string) error {
			return errors.Join(os.Remove(at("link")), os.Symlink("gone", at("link")))
		}, []stage.Drift{{Path: "link", Reason: "target", Delta: 2}}},
		"a link for its directory": {func(at func(string) string) error {
			return errors.Join(os.Rename(at("linked"), at("l")), os.Symlink("l", at("linked")))
		},
			[]stage.Drift{{Path: "linked", Reason: "kind", Delta: 1}, {Path: "linked/f", Reason: "removed", Delta: 1}}},
		"a new file in a removed directory":           {func(at func(string) string) error { return write(at, "old/in/new", "x") }, []stage.Drift{{Path: "old/in", Reason: "entries", Delta: 3}}},
		"a file in a removed directory, changed":      {func(at func(string) string) error { return write(at, "old/in/f", "longer") }, []stage.Drift{{Path: "old/in", Reason: "entries", Delta: 3}}},
		"a file in a removed directory, of that size": {func(at func(string) string) error { return write(at, "old/in/f", "TEXT") }, []stage.Drift{{Path: "old/in", Reason: "entries", Delta: 3}}},
		"a file in a removed directory, same time too": {func(at func(string) string) error {
			return sameTime(at("old/in/f"), func() error { return write(at, "old/in/f", "TEXT") })
		}, []stage.Drift{{Path: "old/in", Reason: "entries", Delta: 3}}},
		"a file in a removed directory, replaced by a link": {func(at func(string) string) error {
			return errors.Join(os.Remove(at("old/in/f")), os.Symlink("f", at("old/in/f")))
		}, []stage.Drift{{Path: "old/in", Reason: "entries", Delta: 3}}},
		"a file in a removed directory, its mode": {func(at func(string) string) error { return os.Chmod(at("old/in/f"), 0o600) }, []stage.Drift{{Path: "old/in", Reason: "entries", Delta: 3}}},
		"a file in a moved directory, changed":    {func(at func(string) string) error { return write(at, "moved/in/f", "longer") }, nil},
		"a file in a directory moved and removed, changed": {func(at func(string) string) error { return write(at, "both/in/f", "longer") },
			[]stage.Drift{{Path: "both/in", Reason: "entries", Delta: 4}}},
		"a new file in a directory moved and removed": {func(at func(string) string) error { return write(at, "both/in/new", "x") },
			[]stage.Drift{{Path: "both/in", Reason: "entries", Delta: 3}}},
		"a new file in a moved directory": {func(at func(string) string) error { return write(at, "moved/in/new", "x") }, []stage.Drift{{Path: "moved/in", Reason: "entries", Delta: 3}}},
		"a directory is unchanged": {func(at func(string) string) error {
			return errors.Join(write(at, "moved/in/new", "x"), os.Remove(at("moved/in/new")))
		}, nil},
		"something where a file was made": {func(at func(string) string) error { return write(at, "made", "x") }, []stage.Drift{{Path: "made", Reason: "created", Delta: 4}}},
		"an entry at the new path of a directory": {func(at func(string) string) error { return os.Mkdir(at("elsewhere"), 0o755) },
			[]stage.Drift{{Path: "elsewhere", Reason: "created", Delta: 2}}},
		"several": {func(at func(string) string) error {
			return errors.Join(os.Remove(at("edited")), os.Remove(at("renamed")))
		},
			[]stage.Drift{{Path: "edited", Reason: "removed", Delta: 1}, {Path: "renamed", Reason: "removed", Delta: 2}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := driftTree(t)
			want := k.told()
			k.must(tt.change(func(name string) string { return filepath.Join(k.dir, name) }))
			s, _, err := k.restored()
			if tt.want == nil {
				k.must(err)
				k.Stage = s
				if text := k.text("edited"); text != "Text" {
					t.Errorf("edited is %q", text)
				}
				if name == "nothing" && k.told() != want {
					t.Error("the stage is another one")
				}
				return
			}
			drift, ok := errors.AsType[*stage.DriftError](err)
			if !ok || !errors.Is(err, names.ErrDrift) {
				t.Fatalf("error is %v", err)
			}
			if diff := cmp.Diff(tt.want, drift.Drifts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDriftError(t *testing.T) {
	t.Parallel()
	var e stage.DriftError
	for _, name := range strings.Split("abcdefghijkl", "") {
		e.Drifts = append(e.Drifts, stage.Drift{Path: name, Reason: "content"})
	}
	const want = "the tree has changed since it was read: a (content), b (content), c (content), d (content), " +
		"e (content), f (content), g (content), h (content), i (content), j (content) and 2 more"
	if e.Error() != want {
		t.Errorf("got %q", e.Error())
	}
}

// TestRestore_noTimeOfChange: if the system does not report when a file was last changed, its bytes are compared.
func TestRestore_noTimeOfChange(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"text", "TEXT"} {
		root := fstest.OpenRoot(t, t.TempDir())
		fstest.Write(t, root, "f", "text")
		base := errorfs.Plain(root)
		s := stage.New(base)
		k := stage.NewKeeper(s)
		fstest.Must(t, s.Edit("f", []change.Splice{{Len: 1, Text: []byte("x")}}))
		data, _, err := k.Delta()
		fstest.Must(t, err)
		info, err := root.Stat("f")
		fstest.Must(t, err)
		fstest.Write(t, root, "f", text)
		fstest.Must(t, root.Chtimes("f", info.ModTime(), info.ModTime()))
		if _, err := stage.Restore(t.Context(), stage.New(base), [][]byte{data}); errors.Is(err,
			names.ErrDrift) != (text != "text") {
			t.Errorf("%s: error is %v", text, err)
		}
	}
}

// TestKeeper_RestOn: a run rests on a limited number of matched files, counted over all of its processes.
func TestKeeper_RestOn(t *testing.T) {
	t.Parallel()
	k := newKept(t, "a=1", "b=2", "c=3", "d=4", "e=5")
	stage.SetMaxMatched(k.keeper, 3)
	for i, step := range []struct {
		files string
		left  int
	}{{"a b", 0}, {"a b", 0}, {"c d e", 2}} {
		k.must(k.Mkdir(fmt.Sprintf("made%d", i), 0o755))
		if left := k.keeper.RestOn(strings.Fields(step.files)); left != step.left {
			t.Errorf("%s: %d were left out, want %d", step.files, left, step.left)
		}
		k.keep()
		k.resume()
		stage.SetMaxMatched(k.keeper, 3)
	}
	k.Rollback(k.keeper.Savepoint(1))
	if left := k.keeper.RestOn([]string{"d", "e"}); left != 1 {
		t.Errorf("after a rollback %d were left out, want 1", left)
	}
	k.keep()
	fstest.Write(t, k.root, "e", "other")
	if _, _, err := k.restored(); err != nil {
		t.Errorf("of a file that was left out: %v", err)
	}
	fstest.Write(t, k.root, "d", "other")
	if _, _, err := k.restored(); !errors.Is(err, names.ErrDrift) {
		t.Errorf("of a file that was matched after the rollback: %v", err)
	}
}
