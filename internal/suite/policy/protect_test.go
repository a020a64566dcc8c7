package policy_test

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestReadOnlyFile: a file that its owner may not write to is not written to without force, even by root.
func TestReadOnlyFile(t *testing.T) {
	fsys := suite.Tree("a.txt", "x\n")
	if err := fsys.Chmod("a.txt", 0o444); err != nil {
		t.Fatal(err)
	}
	_, err := millrace.Run(t.Context(), fsys, suite.Edit("a.txt"))
	if _, ok := errors.AsType[*millrace.BlockedError](err); !ok || err.Error() != "file a.txt is read-only. Use force=true to write to it" {
		t.Errorf("without force: %v", err)
	}
	if _, err := millrace.Run(t.Context(), fsys, suite.Edit("a.txt").WithOptions(millrace.Options{Force: true})); err != nil {
		t.Errorf("with force: %v", err)
	}
	if info, err := fsys.Stat("a.txt"); err != nil || info.Mode().Perm() != 0o444 || suite.Read(t, fsys, "a.txt") != "y\n" {
		t.Errorf("%v, %v, %q", info.Mode(), err, suite.Read(t, fsys, "a.txt"))
	}
}

func TestHardLinkWarning(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(dir+"/a.txt", []byte("x\n"), 0o600), os.Link(dir+"/a.txt", dir+"/b.txt"),
	} {
		if err != nil {
			t.Skip("no hard links here:", err)
		}
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	res, err := millrace.Run(t.Context(), root, suite.Edit("a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Warnings) != 1 || res.Warnings[0] != "a.txt has 2 hard links: its other names keep the old content" {
		t.Errorf("warnings %q", res.Warnings)
	}
	if got := suite.Read(t, root, "b.txt"); got != "x\n" {
		t.Errorf("the other name has %q", got)
	}
}

// TestPipelineIsImmutable changes every value that was passed to a pipeline or returned by it.
func TestPipelineIsImmutable(t *testing.T) {
	files, all := []string{"a.txt"}, []string{"x", "y"}
	most := 3
	b := millrace.New("p").
		Step("x", actions.Edit{Files: files, OldText: "a", NewText: "b"}).Expect(millrace.Expect{MaxEdits: &most}).
		Step("y", actions.Search{Pattern: "z", FileTypes: []string{".go"}}).
		Step("m", actions.Merge{}).FromAll(all...)
	p := b.MustBuild()
	digest := p.Digest()

	files[0], all[0], most = "other", "other", 9
	out := p.Steps()
	out[0].Action.(actions.Edit).Files[0] = "other"
	*out[0].Expect.MaxEdits = 9
	out[2].InputFromAll[0] = "other"
	out[1].ID = "other"
	s, _ := p.Step("y")
	s.Action.(actions.Search).FileTypes[0] = ".c"
	b.Step("more", actions.Search{Pattern: "q"})
	b.When(condition.HasMatches("x"))

	if p.Digest() != digest || !p.Equal(b.MustBuild()) {
		t.Error("the pipeline has changed")
	}
	long := b.Step("more", actions.Search{Pattern: "q"})
	one, two := long.Step("one", actions.Search{Pattern: "1"}), long.Step("two", actions.Search{Pattern: "2"})
	if _, ok := one.MustBuild().Step("two"); ok || two.MustBuild().Len() != 5 {
		t.Error("two branches of one builder share a step")
	}
}

// TestGuarantee: each kind of file system reports what it guarantees.
func TestGuarantee(t *testing.T) {
	for name, want := range map[string]millrace.Guarantee{
		"memory": millrace.Failure, "unknown": millrace.Kill, "root": durable(), "base path": durable(),
	} {
		fsys := suite.Backends()[name](t)
		if err := afero.WriteFile(fsys, "a.txt", []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if res, err := millrace.Run(t.Context(), fsys, suite.Edit("a.txt")); err != nil || res.Guarantee != want {
			t.Errorf("%s: guarantee %q, %v, want %q", name, res.Guarantee, err, want)
		}
	}
	fsys := suite.Backends()["root"](t)
	if err := afero.WriteFile(fsys, "a.txt", []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if res, err := (millrace.Executor{State: millrace.State{NoSync: true}}).Run(t.Context(), fsys, suite.Edit("a.txt")); err != nil || res.Guarantee != millrace.Kill {
		t.Errorf("without sync: guarantee %q, %v", res.Guarantee, err)
	}
}

// durable returns the guarantee of a directory of the system: Windows cannot sync a directory.
func durable() millrace.Guarantee {
	if runtime.GOOS == "windows" {
		return millrace.Kill
	}
	return millrace.PowerLoss
}

// TestReadOnlyFileIsNotGotAround: without force, a file that its owner may not write to is not removed, replaced or
// renamed either, nor written to under another name.
func TestReadOnlyFileIsNotGotAround(t *testing.T) {
	p := millrace.New("p")
	for name, tt := range map[string]struct {
		p    millrace.Pipeline
		want string
	}{
		"delete":      {p.Step("d", actions.Delete{Files: []string{"a.txt"}}).MustBuild(), "file a.txt is read-only. Use force=true to delete it"},
		"rename":      {p.Step("r", actions.Rename{Files: []string{"a.txt"}, To: "c"}).MustBuild(), "file a.txt is read-only. Use force=true to rename it"},
		"rename over": {p.Step("r", actions.Rename{Files: []string{"b.txt"}, To: "a.txt", Overwrite: true}).MustBuild(), "file a.txt is read-only. Use force=true to replace it"},
		"copy over":   {p.Step("c", actions.Copy{Files: []string{"b.txt"}, To: "a.txt", Overwrite: true}).MustBuild(), "file a.txt is read-only. Use force=true to write to it"},
		"rename, edit, rename back": {p.Step("r", actions.Rename{Files: []string{"a.txt"}, To: "c"}).
			Step("e", actions.Edit{Files: []string{"c"}, OldText: "x", NewText: "y"}).
			Step("b", actions.Rename{Files: []string{"c"}, To: "a.txt"}).MustBuild(), "file a.txt is read-only. Use force=true to write to it"},
		"rename and edit": {p.Step("r", actions.Rename{Files: []string{"a.txt"}, To: "c"}).
			Step("e", actions.Edit{Files: []string{"c"}, OldText: "x", NewText: "y"}).MustBuild(), "file a.txt is read-only. Use force=true to rename it"},
		"delete and make again": {p.Step("d", actions.Delete{Files: []string{"a.txt"}}).
			Step("c", actions.Create{Path: "a.txt", Content: "z\n"}).MustBuild(), "file a.txt is read-only. Use force=true to write to it"},
		"read": {p.Step("s", actions.Search{Pattern: "x"}).MustBuild(), ""},
		"copy": {p.Step("c", actions.Copy{Files: []string{"a.txt"}, To: "c"}).MustBuild(), ""},
	} {
		fsys := suite.Tree("a.txt", "x\n", "b.txt", "b\n")
		if err := fsys.Chmod("a.txt", 0o444); err != nil {
			t.Fatal(err)
		}
		_, err := millrace.Run(t.Context(), fsys, tt.p)
		blocked, ok := errors.AsType[*millrace.BlockedError](err)
		if ok != (tt.want != "") || ok && (blocked.Reason != tt.want || blocked.Host || blocked.Files == 0) || !ok && err != nil {
			t.Errorf("%s: error = %v, want %q", name, err, tt.want)
		}
		if ok && suite.Read(t, fsys, "a.txt") != "x\n" {
			t.Errorf("%s: a.txt was written to", name)
		}
		if _, err := millrace.Run(t.Context(), fsys, tt.p.WithOptions(millrace.Options{Force: true})); err != nil && ok {
			t.Errorf("%s with force: %v", name, err)
		}
	}
}
