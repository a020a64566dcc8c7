package actions_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// listTree has an example of everything that needs no links.
var listTree = files{
	"b.go": "b\n", "a-b": "", ".hidden": "h", "src/a.go": "12345", "src/deep/x.go": "x", "src/deep/er/y.js": "yy", "src/gen/z.go": "", "src/deep/er/d.go/y": "",
	".gitignore": "/src/gen/\n*.log\n", "a.log": "log", ".git/config": "", "src/.gitignore": "!keep.log\n", "src/keep.log": "k",
}

// paths returns the paths of the reports, directories with a slash at the end.
func paths(out actions.Outcome) []string {
	var list []string
	for _, r := range out.Reports {
		if r.Kind == "dir" {
			r.Path += "/"
		}
		list = append(list, r.Path)
	}
	return list
}

func TestList(t *testing.T) {
	t.Parallel()
	top := []string{".gitignore", ".hidden", "a-b", "b.go", "src/"}
	src := []string{"src/.gitignore", "src/a.go", "src/deep/", "src/keep.log"}
	for name, open := range bases {
		b := newBench(t, open(t), listTree)
		for _, test := range []struct {
			name string
			list actions.List
			want []string
		}{
			{"top", actions.List{}, top},
			{"one level", actions.List{Depth: 1}, top},
			{"dot", actions.List{Path: "./"}, top},
			{"two levels", actions.List{Depth: 2}, slices.Concat(top, src)},
			{"everything", actions.List{Depth: -1}, slices.Concat(top, src[:3], []string{"src/deep/er/", "src/deep/er/d.go/", "src/deep/er/d.go/y", "src/deep/er/y.js", "src/deep/x.go"}, src[3:])},
			{"below", actions.List{Path: "src"}, src},
			{"no ignore", actions.List{Path: "src", NoIgnore: true, Depth: 2}, slices.Concat(src[:3], []string{"src/deep/er/", "src/deep/x.go", "src/gen/", "src/gen/z.go"}, src[3:])},
			{"an ignored directory by name", actions.List{Path: "src/gen"}, []string{"src/gen/z.go"}},
			{"a file", actions.List{Path: "src/a.go"}, []string{"src/a.go"}},
			{"types", actions.List{Depth: -1, FileTypes: []string{"go"}}, []string{"b.go", "src/a.go", "src/deep/x.go"}},
			{"types are of files", actions.List{Path: "src/deep/er", Depth: -1, FileTypes: []string{"go", "js"}}, []string{"src/deep/er/y.js"}},
			{"include", actions.List{Depth: -1, Include: []string{"d*", "src/**/*.go"}}, []string{"src/a.go", "src/deep/", "src/deep/er/d.go/", "src/deep/x.go"}},
			{"exclude", actions.List{Depth: -1, Exclude: []string{"deep", ".*"}}, []string{"a-b", "b.go", "src/", "src/a.go", "src/keep.log"}},
			{"nothing", actions.List{Include: []string{"nothing"}}, nil},
		} {
			out := b.must("list", test.list, nil)
			if d := cmp.Diff(test.want, paths(out), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s in %s (-want +got):\n%s", test.name, name, d)
			}
			var regular []string
			for _, p := range test.want {
				if !strings.HasSuffix(p, "/") {
					regular = append(regular, p)
				}
			}
			equal(t, test.name+": files", out.Files, regular)
			if strings.Count(out.Aggregated, "\n") != len(test.want) {
				t.Errorf("%s: text\n%s", test.name, out.Aggregated)
			}
		}
		b.wantWarning()
	}
}

// TestListIsOfTheStage lists the changes of earlier steps, with their details.
func TestListIsOfTheStage(t *testing.T) {
	t.Parallel()
	stamp := time.Date(2025, 5, 11, 12, 15, 30, 0, time.FixedZone("", 7200))
	for name, open := range bases {
		t.Run(name, func(t *testing.T) {
			base := open(t)
			b := newBench(t, base, files{"d/old.txt": "12", "d/gone": "", "d/e/x": "", "d/long": strings.Repeat("x", 1234)})
			for _, err := range []error{
				base.Chmod("d/long", 0o640), base.Chtimes("d/long", stamp, stamp), base.Chmod("d/e", 0o700),
				b.stage.Rename("d/old.txt", "d/new.txt"), b.stage.Remove("d/gone"),
				afero.WriteFile(b.stage, "d/made", []byte("123"), 0o600), b.stage.Mkdir("d/dir", 0o750),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			out := b.must("list", actions.List{Path: "d", Depth: -1}, nil)
			want := "drwxr-x---    - d/dir/\ndrwx------    - d/e/\n-rw-r--r--    0 d/e/x\n-rw-r----- 1234 d/long\n-rw-------    3 d/made\n-rw-r--r--    2 d/new.txt\n"
			if out.Aggregated != want {
				t.Errorf("got\n%swant\n%s", out.Aggregated, want)
			}
			size := int64(1234)
			equal(t, "report", out.Reports[3], actions.FileReport{
				Path: "d/long", Success: true, LastModified: stamp.UTC(), Kind: "file", Size: &size, Mode: "0640",
			})
			if out.Reports[3].LastModified.Location() != time.UTC || out.Reports[0].Mode != "0750" ||
				out.Reports[0].Size != nil {
				t.Errorf("reports %+v", out.Reports)
			}
		})
	}
}

func TestListErrors(t *testing.T) {
	t.Parallel()
	b := inMemory(t, listTree)
	for _, test := range []struct {
		list actions.List
		text string
		is   error
	}{
		{actions.List{Path: "nowhere"}, "path not found: nowhere", fs.ErrNotExist},
		{actions.List{Path: "../x"}, "../x: path escapes from the root of the tree", fsutil.ErrEscape},
		{actions.List{Path: "b.go/"}, "b.go/: not a directory", fsutil.ErrNotDir},
		{actions.List{Include: []string{"["}}, "'[' is not a valid glob", nil},
	} {
		_, err := b.run("list", test.list, nil)
		wantError(t, err, test.text)
		if test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%v is no %v", err, test.is)
		}
	}
}

// TestListLimit checks that the host's limit applies to shown text.
func TestListLimit(t *testing.T) {
	t.Parallel()
	b := inMemory(t, listTree)
	call := func(most int64) *actions.Call {
		return &actions.Call{FS: (*fsutil.Stage)(b.stage), Limits: actions.Limits{MaxOutputBytes: most}}
	}
	if _, err := (actions.List{Depth: -1}).Run(t.Context(), call(5000)); err != nil {
		t.Error(err)
	}
	_, err := actions.List{Depth: -1}.Run(t.Context(), call(500))
	if e, ok := errors.AsType[*actions.LimitError](err); !ok || e.What != "bytes shown" || e.Limit != 500 {
		t.Fatalf("error %v", err)
	}
	wantError(t, err, "too much to show (max 500 bytes): ask for less, or have the host raise MaxShownBytes, or MaxOutputBytes where that is less")
}

// TestListNames checks that no name can fake a line, and that the text shows names that JSON cannot express.
func TestListNames(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"a\n-rw-r--r-- 0 fake": "", "b\xff": "", "c\u202egnp.exe": "", "é ü": "", `q"`: "",
		`back\slash`: ""})
	out := b.must("list", actions.List{}, nil)
	want := "-rw-r--r-- 0 \"a\\n-rw-r--r-- 0 fake\"\n-rw-r--r-- 0 \"back\\\\slash\"\n-rw-r--r-- 0 \"b\\xff\"\n-rw-r--r-- 0 \"c\\u202egnp.exe\"\n" +
		"-rw-r--r-- 0 \"q\\\"\"\n-rw-r--r-- 0 é ü\n"
	if out.Aggregated != want {
		t.Errorf("got\n%swant\n%s", out.Aggregated, want)
	}
}

// TestListUnreadable goes on where a directory below may not be read, and says so.
func TestListUnreadable(t *testing.T) {
	t.Parallel()
	b := inMemory(t, nil)
	write(t, b.stage.Base(), files{"locked/x": "", "z/x": ""})
	b = newBench(t, locked(b.stage.Base(), "locked"), nil)
	equal(t, "paths", paths(b.must("list", actions.List{Depth: 2}, nil)), []string{"locked/", "z/", "z/x"})
	b.wantWarning("locked was not listed: ", "permission denied")
	equal(t, "paths", paths(b.must("list", actions.List{}, nil)), []string{"locked/", "z/"})
	b.wantWarning()
	_, err := b.run("list", actions.List{Path: "locked"}, nil)
	wantError(t, err, "locked: access denied")
}

// TestListMissing: a path that does not exist is an error, or empty if the list asks for that. Other errors stay
// errors.
func TestListMissing(t *testing.T) {
	t.Parallel()
	for name, open := range bases {
		tree := files{"a.txt": "a"}
		if name == "root" { // the other file system has no links
			tree["dangling@"] = "nowhere"
		}
		b := newBench(t, open(t), tree)
		for _, path := range []string{"none", "none/below", "a.txt/below", "dangling"} {
			for _, missing := range []string{"", "error"} {
				if _, err := b.run("s", actions.List{Path: path, Missing: missing}, nil); err == nil {
					t.Errorf("%s: %s with missing %q: no error", name, path, missing)
				}
			}
		}
		for _, path := range []string{"none", "none/below", "dangling"} {
			out, err := b.run("s", actions.List{Path: path, Depth: -1, Missing: "empty"}, nil)
			if err != nil {
				t.Errorf("%s: %s: %v", name, path, err)
			}
			equal(t, path, out, actions.Outcome{})
		}
		out := b.must("s", actions.List{Path: "a.txt", Missing: "empty"}, nil)
		equal(t, "a file that exists", out.Files, []string{"a.txt"})
		if _, err := b.run("s", actions.List{Path: "../out", Missing: "empty"}, nil); err == nil {
			t.Errorf("%s: a path outside is empty", name)
		}
	}
}
