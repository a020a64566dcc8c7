package millracetest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/errorfs"
)

const sample = `The comment is not part of the tree.
-- a/b.txt --
b
-- bin.dat base64 --
AAEC
-- dos.txt\r --
one
two
-- empty/ --
-- end.txt\n --
end
-- run.sh mode=755 --
run
`

func TestTree(t *testing.T) {
	fsys := Tree(t, sample)
	for name, want := range map[string]string{
		"a/b.txt": "b\n", "bin.dat": "\x00\x01\x02", "dos.txt": "one\r\ntwo\r\n", "end.txt": "end", "run.sh": "run\n",
	} {
		if got, err := afero.ReadFile(fsys, name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	Equal(t, fsys, sample)
	Equal(t, fsys, Text(t, fsys))
}

func TestTree_links(t *testing.T) {
	text := "-- a.txt --\na\n-- link -> a.txt --\n"
	fsys := Tree(t, text)
	if got, err := afero.ReadFile(fsys, "link"); err != nil || string(got) != "a\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got := Text(t, fsys); got != text {
		t.Errorf("text %q", got)
	}
	other := "-- a.txt --\na\n-- link -> b.txt --\n"
	fails(t, func(t testing.TB) { Equal(t, fsys, other) }, "link -> b.txt", "link -> a.txt")
}

func TestFromDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d", "a.txt"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fsys := FromDir(t, dir)
	Equal(t, fsys, "-- d/a.txt --\na\n")
	if err := fsys.Remove("d/a.txt"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "d", "a.txt")); err != nil {
		t.Error("the copy is not a copy:", err)
	}
	fails(t, func(t testing.TB) { FromDir(t, filepath.Join(dir, "absent")) }, "absent")
}

// Equal finds every difference between trees.
func TestEqual_fails(t *testing.T) {
	for name, mistake := range map[string]func(fsys afero.Fs) error{
		"text":        func(fsys afero.Fs) error { return afero.WriteFile(fsys, "a/b.txt", []byte("c\n"), 0o644) },
		"line end":    func(fsys afero.Fs) error { return afero.WriteFile(fsys, "a/b.txt", []byte("b\r\n"), 0o644) },
		"final end":   func(fsys afero.Fs) error { return afero.WriteFile(fsys, "a/b.txt", []byte("b"), 0o644) },
		"binary":      func(fsys afero.Fs) error { return afero.WriteFile(fsys, "bin.dat", []byte("\x00\x01\x03"), 0o644) },
		"more":        func(fsys afero.Fs) error { return afero.WriteFile(fsys, "more.txt", nil, 0o644) },
		"fewer":       func(fsys afero.Fs) error { return fsys.Remove("a/b.txt") },
		"directory":   func(fsys afero.Fs) error { return fsys.Mkdir("more", 0o755) },
		"no more dir": func(fsys afero.Fs) error { return fsys.Remove("empty") },
		"mode":        func(fsys afero.Fs) error { return fsys.Chmod("run.sh", 0o700) },
		"execute":     func(fsys afero.Fs) error { return fsys.Chmod("a/b.txt", 0o755) },
		"read-only":   func(fsys afero.Fs) error { return fsys.Chmod("a/b.txt", 0o444) },
	} {
		t.Run(name, func(t *testing.T) {
			fsys := Tree(t, sample)
			if err := mistake(fsys); err != nil {
				t.Fatal(err)
			}
			fails(t, func(t testing.TB) { Equal(t, fsys, sample) }, "the tree is another")
		})
	}
}

// A text that is not a tree is refused, and the error names the section.
func TestTree_refused(t *testing.T) {
	for text, word := range map[string]string{
		"-- ../a --\n":              "not a path below the tree",
		"-- /a --\n":                "not a path below the tree",
		"-- a mode=999 --\n":        "not a mode",
		"-- a base64 --\n?\n":       "base64",
		"-- d/ --\ntext\n":          "a directory has no text",
		"-- l -> a --\ntext\n":      "a link has no text",
		"-- a --\n-- a mode=755 --": "a is there twice",
	} {
		fails(t, func(t testing.TB) { Tree(t, text) }, word)
		fails(t, func(t testing.TB) { Equal(t, afero.NewMemMapFs(), text) }, word)
	}
}

// A wrong text, and a file system that refuses the files, stop the test.
func TestPlant_fails(t *testing.T) {
	fails(t, func(t testing.TB) { Plant(t, afero.NewMemMapFs(), "-- ../a --\n") }, "not a path below the tree")
	full := afero.NewReadOnlyFs(afero.NewMemMapFs())
	fails(t, func(t testing.TB) { Plant(t, full, "-- a --\n") }, "not permitted")
	fails(t, func(t testing.TB) { Plant(t, afero.NewMemMapFs(), "-- l -> a --\n") }, "has no symbolic links")
}

// A tree that cannot be read, and a name that is invalid in an archive, stop the test.
func TestText_fails(t *testing.T) {
	fsys := Tree(t, "-- a.txt --\na\n")
	broken := errorfs.Wrap(fsys, errorfs.Before(func(op *errorfs.Op) error {
		if op.Kind == "read" {
			return syscall.EIO
		}
		return nil
	}))
	fails(t, func(t testing.TB) { Text(t, broken) }, "the tree cannot be read", "input/output error")
	if err := afero.WriteFile(fsys, "b --\n-- c", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	fails(t, func(t testing.TB) { Text(t, fsys) }, "an archive cannot have a file with the name")
}

// Any tree is equal to its own text.
func TestText_readsBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := entry{
			name: rapid.StringMatching(`[a-z =]{0,5}[a-z]`).Draw(r, "name"),
			data: []byte(rapid.StringOf(rapid.SampledFrom([]rune("a -\r\n\x00"))).Draw(r, "data")),
			mode: rapid.SampledFrom([]os.FileMode{0o644, 0o600, 0o755, 0o400}).Draw(r, "mode"),
		}
		if want.check() != nil || want.name[0] == ' ' {
			r.Skip("it is not a name")
		}
		fsys := afero.NewMemMapFs()
		if err := want.plant(fsys); err != nil {
			r.Fatal(err)
		}
		text := Text(t, fsys)
		if diff := cmp.Diff(want.data, mustRead(r, Tree(t, text), want.name)); diff != "" {
			r.Fatalf("%s\n%s", text, diff)
		}
		Equal(t, fsys, text)
	})
}

func mustRead(r *rapid.T, fsys afero.Fs, name string) []byte {
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		r.Fatal(err)
	}
	if len(data) == 0 {
		return []byte{}
	}
	return data
}
