package bounds_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/afero"
)

// treeBytes is the approximate size of each tree.
const treeBytes = 10_000_000

// shapes are the trees: demanding content in one file or in many.
var shapes = map[string]func(put func(name string, data []byte)){
	"many": func(put func(string, []byte)) {
		for i := range 5000 {
			put(fmt.Sprintf("d%02d/e%02d/f%d.txt", i%50, i/50%10, i), text(treeBytes/5000, i))
		}
	},
	"line":     one(bytes.Repeat([]byte("one line, no end "), treeBytes/17)),
	"newlines": one(bytes.Repeat([]byte("\n"), treeBytes)),
	"letters":  one(bytes.Repeat([]byte("a"), treeBytes)),
	"words":    one(text(treeBytes, 1)),
	"letters in ten files": func(put func(string, []byte)) {
		for i := range 10 {
			put(fmt.Sprintf("f%d.txt", i), bytes.Repeat([]byte("a"), treeBytes/10))
		}
	},
	"newlines in a hundred files": func(put func(string, []byte)) {
		for i := range 100 {
			put(fmt.Sprintf("d/f%d.txt", i), bytes.Repeat([]byte("\n"), treeBytes/100))
		}
	},
	"two alike": func(put func(string, []byte)) {
		for i, name := range []string{"f0.txt", "f1.txt"} {
			var b bytes.Buffer
			for n := 0; b.Len() < treeBytes/2; n++ {
				fmt.Fprintf(&b, "%d\n", (n*7919+i*n*n)%9973)
			}
			put(name, b.Bytes())
		}
	},
	"deep": func(put func(string, []byte)) {
		dir := ""
		for i := range 400 {
			dir += "d/"
			put(fmt.Sprintf("%sf%d.txt", dir, i), text(treeBytes/400, i))
		}
	},
	"wide": func(put func(string, []byte)) {
		for i := range 20_000 {
			put(fmt.Sprintf("f%d.txt", i), text(treeBytes/20_000, i))
		}
	},
	"long names": func(put func(string, []byte)) {
		for i := range 20_000 {
			put(fmt.Sprintf("%s%d.txt", strings.Repeat("n", 240), i), []byte("a\n"))
		}
	},
	"crlf": one(bytes.Repeat([]byte("a b\r\n"), treeBytes/5)),
	"mixed": func(put func(string, []byte)) {
		for i := range 100 {
			data := text(treeBytes/100, i)
			switch i % 4 {
			case 0:
				data[i] = 0
			case 1:
				data = append([]byte("\xef\xbb\xbf"), data...)
			case 2:
				copy(data[100:], "\xff\xfe\xc0\x80")
			}
			put(fmt.Sprintf("f%d.txt", i), data)
		}
		put(".gitignore", bytes.Repeat([]byte("*a*b*c*d*\n!f*\n"), 1000))
	},
}

// one returns a tree of one large file and some small ones.
func one(data []byte) func(put func(string, []byte)) {
	return func(put func(string, []byte)) {
		put("f0.txt", data)
		for i := 1; i < 10; i++ {
			put(fmt.Sprintf("f%d.txt", i), text(1000, i))
		}
	}
}

// text returns size bytes in lines of words.
func text(size, seed int) []byte {
	words := strings.Fields("a ab abc foo bar the const let of x xx aaaaaaaaaa => func 12345 é 日本 K ſ")
	b := make([]byte, 0, size+16)
	for n := uint32(seed); len(b) < size; {
		n = n*1664525 + 1013904223
		b = append(b, words[n>>8%uint32(len(words))%uint32(len(words))]...)
		b = append(b, " \n"[min(1, n>>27/28)])
	}
	return b[:size]
}

// contents are the hashes of the files of a tree, by their names.
type contents map[string][sha256.Size]byte

// plant makes the tree, and returns its content. It makes each directory once, because deep ones take long.
func plant(fsys afero.Fs, shape string) (contents, error) {
	made := map[string]bool{".": true}
	var mkdir func(dir string) error
	mkdir = func(dir string) error {
		if made[dir] {
			return nil
		}
		made[dir] = true
		if err := mkdir(path.Dir(dir)); err != nil {
			return err
		}
		return fsys.Mkdir(dir, 0o755)
	}
	var failed error
	planted := contents{}
	shapes[shape](func(name string, data []byte) {
		if failed != nil {
			return
		}
		planted[name] = sha256.Sum256(data)
		if failed = mkdir(path.Dir(name)); failed == nil {
			failed = afero.WriteFile(fsys, name, data, 0o644)
		}
	})
	return planted, failed
}

// snapshot returns the content of a tree, without the files of the executor.
func snapshot(fsys afero.Fs) (contents, error) {
	sums := contents{}
	err := afero.Walk(fsys, ".", func(name string, info fs.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case info.IsDir() && info.Name() == ".millrace":
			return fs.SkipDir
		case info.IsDir():
			return nil
		}
		data, err := afero.ReadFile(fsys, name)
		sums[path.Clean(name)] = sha256.Sum256(data)
		return err
	})
	return sums, err
}
