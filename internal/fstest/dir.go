package fstest

import (
	"os"
	"sync"
)

func dirChecks() []check {
	return []check{
		{"the root is a directory", 0, func(t tree) {
			t.isDir(".")
			t.lists(".")
		}},
		{"mkdir makes an empty directory", 0, func(t tree) {
			t.mkdir("d", "d/e")
			t.isDir("d/e")
			t.lists("d", "e")
			t.lists("d/e")
		}},
		{"mkdir over a directory", 0, func(t tree) {
			t.mkdir("d")
			t.want(t.fs.Mkdir("d", 0o755), "exist", IsExist)
			t.want(t.fs.Mkdir(".", 0o755), "exist", IsExist)
		}},
		{"mkdir over a file", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.fs.Mkdir("f", 0o755), "exist", IsExist)
			t.has("f", "x")
		}},
		{"mkdir in a missing directory", 0, func(t tree) {
			t.want(t.fs.Mkdir("d/e", 0o755), "not exist", IsNotExist)
			t.gone("d")
		}},
		{"mkdir below a file", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.fs.Mkdir("f/d", 0o755), "not a directory", IsNotDir)
		}},
		{"mkdir lets one of many through", 0, func(t tree) {
			const n = 8
			var wg sync.WaitGroup
			won := make(chan int, n)
			for i := range n {
				wg.Go(func() {
					if t.fs.Mkdir("d", 0o755) == nil {
						won <- i
					}
				})
			}
			wg.Wait()
			if len(won) != 1 {
				t.Errorf("%d calls made the same directory, want 1", len(won))
			}
		}},
		{"mkdirall makes all", 0, func(t tree) {
			t.must(t.fs.MkdirAll("a/b/c", 0o755))
			t.lists(".", "a")
			t.lists("a", "b")
			t.lists("a/b", "c")
			t.isDir("a/b/c")
		}},
		{"mkdirall of what is there", 0, func(t tree) {
			t.mkdir("a", "a/b")
			t.write("a/b/f", "x")
			t.must(t.fs.MkdirAll("a/b", 0o755))
			t.must(t.fs.MkdirAll("a/b/c", 0o755))
			t.must(t.fs.MkdirAll(".", 0o755))
			t.has("a/b/f", "x")
		}},
		{"mkdirall over a file", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.fs.MkdirAll("f", 0o755), "not a directory", IsNotDir)
			t.has("f", "x")
		}},
		{"mkdirall below a file", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.fs.MkdirAll("f/a/b", 0o755), "not a directory", IsNotDir)
			t.has("f", "x")
			t.lists(".", "f")
		}},
		{"a directory has no content to read", 0, func(t tree) {
			t.mkdir("d")
			info, err := t.fs.Stat("d")
			t.must(err)
			if info.Mode().IsRegular() || !info.IsDir() || info.Name() != "d" {
				t.Errorf("Stat = %q, %v", info.Name(), info.Mode())
			}
		}},
		{"stat of an open directory", 0, func(t tree) {
			t.mkdir("d")
			info, err := t.open("d", os.O_RDONLY).Stat()
			t.must(err)
			if !info.IsDir() {
				t.Errorf("mode %v", info.Mode())
			}
		}},
		{"a deep tree", 0, func(t tree) {
			name := "d"
			for range 60 {
				name += "/d"
			}
			t.must(t.fs.MkdirAll(name, 0o755))
			t.write(name+"/f", "deep")
			t.has(name+"/f", "deep")
			t.must(t.fs.RemoveAll("d"))
			t.lists(".")
		}},
	}
}

func removeChecks() []check {
	return []check{
		{"a file", 0, func(t tree) {
			t.write("f", "x")
			t.write("g", "y")
			t.must(t.fs.Remove("f"))
			t.gone("f")
			t.lists(".", "g")
			t.want(t.openErr("f", os.O_RDONLY), "not exist", IsNotExist)
		}},
		{"an empty directory", 0, func(t tree) {
			t.mkdir("d")
			t.must(t.fs.Remove("d"))
			t.gone("d")
		}},
		{"a directory that is not empty", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "x")
			t.want(t.fs.Remove("d"), "not empty", IsNotEmpty)
			t.has("d/f", "x")
		}},
		{"a directory that was emptied", 0, func(t tree) {
			t.mkdir("d", "d/e")
			t.write("d/f", "x")
			t.must(t.fs.Remove("d/f"))
			t.want(t.fs.Remove("d"), "not empty", IsNotEmpty)
			t.must(t.fs.Remove("d/e"))
			t.must(t.fs.Remove("d"))
			t.lists(".")
		}},
		{"nothing", 0, func(t tree) {
			t.want(t.fs.Remove("f"), "not exist", IsNotExist)
			t.want(t.fs.Remove("d/f"), "not exist", IsNotExist)
		}},
		{"below a file", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.fs.Remove("f/g"), "not a directory", IsNotDir)
			t.has("f", "x")
		}},
		{"the root", 0, func(t tree) {
			t.write("f", "x")
			if t.fs.Remove(".") == nil {
				t.Error("Remove(\".\") succeeded")
			}
			t.has("f", "x")
		}},
		{"and make again as another kind", 0, func(t tree) {
			t.write("p", "x")
			t.must(t.fs.Remove("p"))
			t.mkdir("p")
			t.write("p/f", "y")
			t.must(t.fs.RemoveAll("p"))
			t.write("p", "z")
			t.has("p", "z")
		}},
		{"and make a directory again, empty", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "x")
			t.must(t.fs.RemoveAll("d"))
			t.mkdir("d")
			t.lists("d")
			t.gone("d/f")
		}},
		{"all of a tree", 0, func(t tree) {
			t.must(t.fs.MkdirAll("d/e/f", 0o755))
			t.write("d/1", "1")
			t.write("d/e/f/2", "2")
			t.write("d2", "stays")
			t.must(t.fs.RemoveAll("d"))
			t.gone("d")
			t.gone("d/e/f/2")
			t.lists(".", "d2")
			t.has("d2", "stays")
		}},
		{"all of a file", 0, func(t tree) {
			t.write("f", "x")
			t.must(t.fs.RemoveAll("f"))
			t.gone("f")
		}},
		{"all of nothing", 0, func(t tree) {
			t.must(t.fs.RemoveAll("f"))
			t.must(t.fs.RemoveAll("d/e"))
		}},
	}
}
