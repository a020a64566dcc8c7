package fstest

import (
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/afero"
)

func fileChecks() []check {
	return []check{
		{"create makes an empty file", 0, func(t tree) {
			f, err := t.fs.Create("f")
			t.must(err)
			t.close(f)
			t.has("f", "")
			t.lists(".", "f")
		}},
		{"create empties a file", 0, func(t tree) {
			t.write("f", "old")
			f, err := t.fs.Create("f")
			t.must(err)
			t.close(f)
			t.has("f", "")
		}},
		{"create opens for reading too", 0, func(t tree) {
			f, err := t.fs.Create("f")
			t.must(err)
			defer f.Close()
			t.put(f, "abc")
			_, err = f.Seek(0, io.SeekStart)
			t.must(err)
			if got, err := io.ReadAll(f); err != nil || string(got) != "abc" {
				t.Errorf("read %q, %v", got, err)
			}
		}},
		{"create in a missing directory", 0, func(t tree) {
			t.want(t.openErr("d/f", rw|os.O_CREATE), "not exist", IsNotExist)
			t.gone("d")
		}},
		{"create below a file", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.openErr("f/g", rw|os.O_CREATE), "not a directory", IsNotDir)
			t.has("f", "x")
		}},
		{"create over a directory", 0, func(t tree) {
			t.mkdir("d")
			t.want(t.openErr("d", rw|os.O_CREATE), "is a directory", IsDir)
			t.want(t.openErr("d", os.O_WRONLY|os.O_CREATE|os.O_TRUNC), "is a directory", IsDir)
			t.isDir("d")
		}},
		{"open a missing file", 0, func(t tree) {
			_, err := t.fs.Open("f")
			t.want(err, "not exist", IsNotExist)
			t.want(t.openErr("f", os.O_WRONLY), "not exist", IsNotExist)
			t.want(t.openErr("f", os.O_WRONLY|os.O_TRUNC), "not exist", IsNotExist)
			t.want(t.openErr("f", os.O_WRONLY|os.O_APPEND), "not exist", IsNotExist)
			t.gone("f")
		}},
		{"open in a missing directory", 0, func(t tree) {
			_, err := t.fs.Open("d/e/f")
			t.want(err, "not exist", IsNotExist)
		}},
		{"open below a file", 0, func(t tree) {
			t.write("f", "x")
			_, err := t.fs.Open("f/g")
			t.want(err, "not a directory", IsNotDir)
			_, err = t.fs.Open("f/g/h")
			t.want(err, "not a directory", IsNotDir)
		}},
		{"open a directory for writing", 0, func(t tree) {
			t.mkdir("d")
			t.want(t.openErr("d", os.O_WRONLY), "is a directory", IsDir)
			t.want(t.openErr("d", rw), "is a directory", IsDir)
			t.want(t.openErr(".", rw), "is a directory", IsDir)
		}},
		{"excl makes a file", 0, func(t tree) {
			t.close(t.open("f", rw|os.O_CREATE|os.O_EXCL))
			t.has("f", "")
		}},
		{"excl over a file", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.openErr("f", rw|os.O_CREATE|os.O_EXCL), "exist", IsExist)
			t.want(t.openErr("f", rw|os.O_CREATE|os.O_EXCL|os.O_TRUNC), "exist", IsExist)
			t.has("f", "x")
		}},
		{"excl over a directory", 0, func(t tree) {
			t.mkdir("d")
			t.want(t.openErr("d", rw|os.O_CREATE|os.O_EXCL), "exist", IsExist)
		}},
		{"excl lets one of many through", 0, func(t tree) {
			const n = 8
			var wg sync.WaitGroup
			won := make(chan int, n)
			for i := range n {
				wg.Go(func() {
					if t.openErr("f", rw|os.O_CREATE|os.O_EXCL) == nil {
						won <- i
					}
				})
			}
			wg.Wait()
			if len(won) != 1 {
				t.Errorf("%d calls made the same file, want 1", len(won))
			}
		}},
		{"create flag keeps what is there", 0, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", rw|os.O_CREATE)
			t.put(f, "X")
			t.close(f)
			t.has("f", "Xbc")
		}},
		{"trunc empties", 0, func(t tree) {
			t.write("f", "abc")
			t.close(t.open("f", os.O_WRONLY|os.O_TRUNC))
			t.has("f", "")
		}},
		{"write only writes at the start", 0, func(t tree) {
			t.write("f", "abcdef")
			f := t.open("f", os.O_WRONLY)
			t.put(f, "XY")
			t.put(f, "Z")
			t.close(f)
			t.has("f", "XYZdef")
		}},
		{"write only does not read", 0, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", os.O_WRONLY)
			if n, err := f.Read(make([]byte, 1)); err == nil || err == io.EOF {
				t.Errorf("Read = %d, %v, want an error", n, err)
			}
		}},
		{"read only does not write", 0, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", os.O_RDONLY)
			if _, err := f.Write([]byte("x")); err == nil {
				t.Error("Write succeeded")
			}
			if _, err := f.WriteString("x"); err == nil {
				t.Error("WriteString succeeded")
			}
			if _, err := f.WriteAt([]byte("x"), 0); err == nil {
				t.Error("WriteAt succeeded")
			}
			if err := f.Truncate(0); err == nil {
				t.Error("Truncate succeeded")
			}
			t.close(f)
			t.has("f", "abc")
		}},
		{"read only with create makes a file", 0, func(t tree) {
			t.close(t.open("f", os.O_RDONLY|os.O_CREATE))
			t.has("f", "")
		}},
		{"append adds at the end", 0, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", os.O_WRONLY|os.O_APPEND)
			t.put(f, "d")
			t.put(f, "e")
			t.close(f)
			t.has("f", "abcde")
		}},
		{"append adds at the end after a seek", 0, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", rw|os.O_APPEND)
			_, err := f.Seek(0, io.SeekStart)
			t.must(err)
			t.put(f, "d")
			t.close(f)
			t.has("f", "abcd")
		}},
		{"append with create makes a file", 0, func(t tree) {
			f := t.open("f", os.O_WRONLY|os.O_APPEND|os.O_CREATE)
			t.put(f, "a")
			t.close(f)
			t.has("f", "a")
		}},
		{"append refuses WriteAt", 0, func(t tree) {
			f := t.open("f", os.O_WRONLY|os.O_APPEND|os.O_CREATE)
			if _, err := f.WriteAt([]byte("x"), 0); err == nil {
				t.Error("WriteAt succeeded")
			}
		}},
		{"two appenders do not overwrite each other", sharedHandles, func(t tree) {
			t.write("f", "")
			a, b := t.open("f", os.O_WRONLY|os.O_APPEND), t.open("f", os.O_WRONLY|os.O_APPEND)
			t.put(a, "1")
			t.put(b, "2")
			t.put(a, "3")
			t.close(a)
			t.close(b)
			t.has("f", "123")
		}},
		{"large content comes back", 0, func(t tree) {
			want := strings.Repeat("0123456789abcdef", 1<<16)
			t.write("f", want)
			t.has("f", want)
		}},
		{"all byte values come back", 0, func(t tree) {
			var b strings.Builder
			for i := range 256 {
				b.WriteByte(byte(i))
			}
			t.write("f", b.String())
			t.has("f", b.String())
		}},
		{"writing replaces a longer file", 0, func(t tree) {
			t.write("f", "a long text")
			t.write("f", "short")
			t.has("f", "short")
		}},
		{"same name in two directories", 0, func(t tree) {
			t.mkdir("a", "b")
			t.write("a/f", "1")
			t.write("b/f", "2")
			t.has("a/f", "1")
			t.has("b/f", "2")
		}},
		{"stat tells name and size", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "abc")
			info, err := t.fs.Stat("d/f")
			t.must(err)
			if info.Name() != "f" || info.Size() != 3 || info.IsDir() {
				t.Errorf("Stat = %q, %d bytes, dir %v", info.Name(), info.Size(), info.IsDir())
			}
		}},
		{"stat of nothing", 0, func(t tree) {
			_, err := t.fs.Stat("f")
			t.want(err, "not exist", IsNotExist)
			_, err = t.fs.Stat("d/f")
			t.want(err, "not exist", IsNotExist)
			if ok, err := afero.Exists(t.fs, "f"); ok || err != nil {
				t.Errorf("Exists = %v, %v", ok, err)
			}
		}},
		{"stat below a file", 0, func(t tree) {
			t.write("f", "x")
			_, err := t.fs.Stat("f/g")
			t.want(err, "not a directory", IsNotDir)
			_, err = t.lstat("f/g")
			t.want(err, "not a directory", IsNotDir)
		}},
		{"stat stays what it was", 0, func(t tree) {
			t.write("f", "abc")
			info, err := t.fs.Stat("f")
			t.must(err)
			t.write("f", "longer")
			if info.Size() != 3 {
				t.Errorf("size %d after a later write, want 3", info.Size())
			}
		}},
	}
}
