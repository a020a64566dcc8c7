package fstest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// fill makes a directory with n files and returns their names in order.
func (t tree) fill(dir string, n int) []string {
	t.Helper()
	t.mkdir(dir)
	var names []string
	for i := range n {
		name := fmt.Sprintf("f%02d", i)
		t.write(dir+"/"+name, "x")
		names = append(names, name)
	}
	return names
}

func listChecks() []check {
	return []check{
		{"an empty directory", 0, func(t tree) {
			t.mkdir("d")
			f := t.open("d", os.O_RDONLY)
			if infos, err := f.Readdir(-1); len(infos) != 0 || err != nil {
				t.Errorf("Readdir(-1) = %v, %v", infos, err)
			}
			g := t.open("d", os.O_RDONLY)
			if infos, err := g.Readdir(1); len(infos) != 0 || err != io.EOF {
				t.Errorf("Readdir(1) = %v, %v, want io.EOF", infos, err)
			}
		}},
		{"every entry once, whatever the order of making", 0, func(t tree) {
			for _, name := range []string{"c", "a", "B", "z", "aa", "_"} {
				t.write(name, "x")
			}
			t.lists(".", "B", "_", "a", "aa", "c", "z")
		}},
		{"entries tell what they are", 0, func(t tree) {
			t.mkdir("d", "d/sub")
			t.write("d/file", "abc")
			infos, err := t.open("d", os.O_RDONLY).Readdir(0)
			t.must(err)
			slices.SortFunc(infos, func(a, b fs.FileInfo) int { return len(b.Name()) - len(a.Name()) })
			if len(infos) != 2 || infos[0].Name() != "file" || infos[0].Size() != 3 || !infos[0].Mode().IsRegular() ||
				infos[1].Name() != "sub" || !infos[1].IsDir() {
				t.Errorf("Readdir = %v", infos)
			}
		}},
		{"ReadDir tells what Readdir tells", 0, func(t tree) {
			t.mkdir("d", "d/sub")
			t.write("d/file", "abc")
			f, ok := t.open("d", os.O_RDONLY).(fs.ReadDirFile)
			if !ok {
				t.Skip("files do not implement fs.ReadDirFile")
			}
			entries, err := f.ReadDir(-1)
			t.must(err)
			var got []string
			for _, e := range entries {
				info, err := e.Info()
				t.must(err)
				if info.Name() != e.Name() || info.Mode().Type() != e.Type() || info.IsDir() != e.IsDir() {
					t.Errorf("entry %v does not agree with %v", e, info)
				}
				got = append(got, e.Name()+" "+e.Type().String())
			}
			slices.Sort(got)
			if want := []string{"file ----------", "sub d---------"}; !slices.Equal(got, want) {
				t.Errorf("ReadDir = %q, want %q", got, want)
			}
		}},
		{"page by page", 0, func(t tree) {
			want := t.fill("d", 7)
			f := t.open("d", os.O_RDONLY)
			var got []string
			for _, size := range []int{3, 3, 1} {
				names, err := f.Readdirnames(3)
				if err != nil || len(names) != size {
					t.Fatalf("Readdirnames(3) = %q, %v, want %d names", names, err, size)
				}
				got = append(got, names...)
			}
			if names, err := f.Readdirnames(3); len(names) != 0 || err != io.EOF {
				t.Errorf("Readdirnames at the end = %q, %v, want io.EOF", names, err)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("pages have %q, want %q", got, want)
			}
		}},
		{"a page and then the rest", 0, func(t tree) {
			want := t.fill("d", 5)
			f := t.open("d", os.O_RDONLY)
			first, err := f.Readdir(2)
			t.must(err)
			rest, err := f.Readdir(-1)
			t.must(err)
			var got []string
			for _, info := range append(first, rest...) {
				got = append(got, info.Name())
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("first and rest have %q, want %q", got, want)
			}
			if again, err := f.Readdir(-1); len(again) != 0 || err != nil {
				t.Errorf("Readdir(-1) at the end = %v, %v", again, err)
			}
		}},
		{"a new handle starts anew", 0, func(t tree) {
			want := t.fill("d", 3)
			if got := t.list("d"); !slices.Equal(got, want) {
				t.Errorf("first listing %q", got)
			}
			if got := t.list("d"); !slices.Equal(got, want) {
				t.Errorf("second listing %q", got)
			}
		}},
		{"a file has no entries", 0, func(t tree) {
			t.write("f", "x")
			_, err := t.open("f", os.O_RDONLY).Readdir(-1)
			t.want(err, "not a directory", IsNotDir)
			_, err = t.open("f", os.O_RDONLY).Readdirnames(-1)
			t.want(err, "not a directory", IsNotDir)
		}},
		{"what is below the entries does not show", 0, func(t tree) {
			t.must(t.fs.MkdirAll("d/e/f", 0o755))
			t.write("d/e/g", "x")
			t.write("de", "x")
			t.lists("d", "e")
			t.lists(".", "d", "de")
		}},
		{"changes show", 0, func(t tree) {
			t.fill("d", 3)
			t.must(t.fs.Remove("d/f01"))
			t.must(t.fs.Rename("d/f02", "d/g"))
			t.mkdir("d/sub")
			t.lists("d", "f00", "g", "sub")
		}},
		{"a directory of many", 0, func(t tree) {
			want := t.fill("d", 100)
			slices.Sort(want)
			if got := t.list("d"); !slices.Equal(got, want) {
				t.Errorf("lists %d names, want %d", len(got), len(want))
			}
		}},
	}
}
