package fstest

import (
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"
)

// when returns a time in whole seconds, which every file system can store.
func when() time.Time { return time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC) }

const keptBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func (t tree) hasMode(name string, want fs.FileMode) {
	t.Helper()
	info, err := t.fs.Stat(name)
	if err != nil {
		t.Error(err)
		return
	}
	if got := info.Mode() & keptBits; got != want {
		t.Errorf("%q has mode %v, want %v", name, got, want)
	}
}

func (t tree) hasTime(name string, want time.Time) {
	t.Helper()
	info, err := t.fs.Stat(name)
	if err != nil {
		t.Error(err)
		return
	}
	if got := info.ModTime(); !got.Equal(want) {
		t.Errorf("%q was modified at %v, want %v", name, got, want)
	}
}

func attrChecks() []check {
	return []check{
		{"a new file has the mode asked for", modes, func(t tree) {
			f, err := t.fs.OpenFile("f", rw|os.O_CREATE, 0o700)
			t.must(err)
			t.close(f)
			t.hasMode("f", 0o700)
		}},
		{"a new directory has the mode asked for", modes, func(t tree) {
			t.must(t.fs.Mkdir("d", 0o700))
			t.hasMode("d", 0o700)
			t.must(t.fs.MkdirAll("e/f", 0o700))
			t.hasMode("e", 0o700)
			t.hasMode("e/f", 0o700)
		}},
		{"create is readable and writable", modes, func(t tree) {
			f, err := t.fs.Create("f")
			t.must(err)
			t.close(f)
			info, err := t.fs.Stat("f")
			t.must(err)
			if info.Mode()&0o600 != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
		}},
		{"opening what is there keeps its mode", modes, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.Chmod("f", 0o600))
			f, err := t.fs.OpenFile("f", rw|os.O_CREATE|os.O_TRUNC, 0o755)
			t.must(err)
			t.close(f)
			t.hasMode("f", 0o600)
		}},
		{"mkdirall keeps the mode of what is there", modes, func(t tree) {
			t.must(t.fs.Mkdir("d", 0o700))
			t.must(t.fs.MkdirAll("d/e", 0o755))
			t.must(t.fs.MkdirAll("d", 0o755))
			t.hasMode("d", 0o700)
		}},
		{"chmod of a file", modes, func(t tree) {
			t.write("f", "x")
			for _, mode := range []fs.FileMode{0o600, 0o755, 0o000, 0o444, 0o777} {
				t.must(t.fs.Chmod("f", mode))
				t.hasMode("f", mode)
			}
			t.has("f", "x")
		}},
		{"chmod of a directory", modes, func(t tree) {
			t.mkdir("d")
			t.must(t.fs.Chmod("d", 0o750))
			t.hasMode("d", 0o750)
			t.isDir("d")
		}},
		{"chmod of special bits", modes, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.Chmod("f", 0o755|fs.ModeSetuid))
			t.hasMode("f", 0o755|fs.ModeSetuid)
			t.mkdir("d")
			t.must(t.fs.Chmod("d", 0o777|fs.ModeSticky))
			t.hasMode("d", 0o777|fs.ModeSticky)
			t.isDir("d")
		}},
		{"chmod of nothing", 0, func(t tree) {
			t.want(t.fs.Chmod("f", 0o600), "not exist", IsNotExist)
		}},
		{"chmod below a file", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.fs.Chmod("f/g", 0o600), "not a directory", IsNotDir)
		}},
		{"writing keeps the mode", modes, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.Chmod("f", 0o640))
			t.write("f", "y")
			t.hasMode("f", 0o640)
		}},
		{"chtimes of a file", times, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.Chtimes("f", when(), when()))
			t.hasTime("f", when())
		}},
		{"chtimes of a directory", times, func(t tree) {
			t.mkdir("d")
			t.must(t.fs.Chtimes("d", when(), when()))
			t.hasTime("d", when())
		}},
		{"chtimes before 1970", times, func(t tree) {
			t.write("f", "x")
			early := time.Date(1965, 1, 1, 0, 0, 0, 0, time.UTC)
			t.must(t.fs.Chtimes("f", early, early))
			t.hasTime("f", early)
		}},
		{"chtimes to no time leaves it", times, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.Chtimes("f", when(), when()))
			t.must(t.fs.Chtimes("f", time.Time{}, time.Time{}))
			t.hasTime("f", when())
		}},
		{"chtimes of nothing", 0, func(t tree) {
			t.want(t.fs.Chtimes("f", when(), when()), "not exist", IsNotExist)
		}},
		{"reading keeps the time", times, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.Chtimes("f", when(), when()))
			t.has("f", "x")
			t.hasTime("f", when())
		}},
		{"opening for writing keeps the time", times, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.Chtimes("f", when(), when()))
			t.close(t.open("f", rw))
			t.close(t.open("f", os.O_WRONLY|os.O_APPEND))
			t.hasTime("f", when())
		}},
		{"closing keeps the time", times, func(t tree) {
			f := t.open("f", rw|os.O_CREATE)
			t.put(f, "x")
			t.must(t.fs.Chtimes("f", when(), when()))
			t.close(f)
			t.hasTime("f", when())
		}},
		{"writing sets the time", times, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.Chtimes("f", when(), when()))
			t.write("f", "y")
			info, err := t.fs.Stat("f")
			t.must(err)
			if !info.ModTime().After(when()) {
				t.Errorf("modified at %v", info.ModTime())
			}
		}},
		{"chmod keeps the time", modes | times, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.Chtimes("f", when(), when()))
			t.must(t.fs.Chmod("f", 0o600))
			t.hasTime("f", when())
		}},
		{"chown to nobody else", 0, func(t tree) {
			t.write("f", "x")
			if os.Getuid() >= 0 {
				t.must(t.fs.Chown("f", os.Getuid(), os.Getgid()))
			}
			t.has("f", "x")
		}},
		{"chown of nothing", 0, func(t tree) {
			t.want(t.fs.Chown("f", os.Getuid(), os.Getgid()), "not exist", IsNotExist)
		}},
		{"a copied file is another one", modes, func(t tree) {
			t.write("a", "x")
			data, err := afero.ReadFile(t.fs, "a")
			t.must(err)
			t.must(afero.WriteFile(t.fs, "b", data, 0o600))
			t.must(t.fs.Chmod("a", 0o755))
			t.hasMode("b", 0o600)
		}},
	}
}
