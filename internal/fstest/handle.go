package fstest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/spf13/afero"
)

func handleChecks() []check {
	return []check{
		{"read in pieces", 0, func(t tree) {
			t.write("f", "abcdef")
			f := t.open("f", os.O_RDONLY)
			buf := make([]byte, 4)
			if n, err := f.Read(buf); n != 4 || err != nil || string(buf) != "abcd" {
				t.Errorf("first Read = %d, %v, %q", n, err, buf)
			}
			if n, err := f.Read(buf); n != 2 || err != nil || string(buf[:2]) != "ef" {
				t.Errorf("second Read = %d, %v, %q", n, err, buf)
			}
			if n, err := f.Read(buf); n != 0 || err != io.EOF {
				t.Errorf("third Read = %d, %v, want io.EOF", n, err)
			}
		}},
		{"read of nothing", 0, func(t tree) {
			t.write("f", "a")
			f := t.open("f", os.O_RDONLY)
			if n, err := f.Read(nil); n != 0 || err != nil {
				t.Errorf("Read(nil) = %d, %v", n, err)
			}
		}},
		{"read after the end", 0, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", os.O_RDONLY)
			_, err := f.Seek(10, io.SeekStart)
			t.must(err)
			if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("Read = %d, %v, want io.EOF", n, err)
			}
		}},
		{"seek from the start, here and the end", 0, func(t tree) {
			t.write("f", "abcdef")
			f := t.open("f", os.O_RDONLY)
			buf := make([]byte, 1)
			for _, step := range []struct {
				off    int64
				whence int
				pos    int64
				char   string
			}{{2, io.SeekStart, 2, "c"}, {1, io.SeekCurrent, 4, "e"}, {-6, io.SeekEnd, 0, "a"}, {-1, io.SeekCurrent, 0, "a"}} {
				pos, err := f.Seek(step.off, step.whence)
				if err != nil || pos != step.pos {
					t.Fatalf("Seek(%d, %d) = %d, %v, want %d", step.off, step.whence, pos, err, step.pos)
				}
				if _, err := f.Read(buf); err != nil || string(buf) != step.char {
					t.Fatalf("Read = %q, %v, want %q", buf, err, step.char)
				}
			}
		}},
		{"seek before the start", 0, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", os.O_RDONLY)
			_, err := f.Seek(1, io.SeekStart)
			t.must(err)
			if pos, err := f.Seek(-1, io.SeekStart); err == nil {
				t.Errorf("Seek(-1) = %d", pos)
			}
			if pos, err := f.Seek(-4, io.SeekEnd); err == nil {
				t.Errorf("Seek(-4, end) = %d", pos)
			}
			if pos, err := f.Seek(0, io.SeekCurrent); pos != 1 || err != nil {
				t.Errorf("position %d, %v after it, want 1", pos, err)
			}
		}},
		{"seek by an unknown rule", 0, func(t tree) {
			f := t.open("f", rw|os.O_CREATE)
			if pos, err := f.Seek(0, 42); err == nil {
				t.Errorf("Seek = %d", pos)
			}
		}},
		{"write after the end fills with zeros", 0, func(t tree) {
			t.write("f", "ab")
			f := t.open("f", rw)
			_, err := f.Seek(4, io.SeekStart)
			t.must(err)
			t.put(f, "c")
			t.close(f)
			t.has("f", "ab\x00\x00c")
		}},
		{"write in the middle moves on", 0, func(t tree) {
			t.write("f", "abcdef")
			f := t.open("f", rw)
			_, err := f.Seek(2, io.SeekStart)
			t.must(err)
			t.put(f, "XY")
			if pos, err := f.Seek(0, io.SeekCurrent); pos != 4 || err != nil {
				t.Errorf("position %d, %v, want 4", pos, err)
			}
			t.close(f)
			t.has("f", "abXYef")
		}},
		{"WriteString is Write", 0, func(t tree) {
			f := t.open("f", rw|os.O_CREATE)
			if n, err := f.WriteString("abc"); n != 3 || err != nil {
				t.Errorf("WriteString = %d, %v", n, err)
			}
			t.close(f)
			t.has("f", "abc")
		}},
		{"ReadAt does not move", 0, func(t tree) {
			t.write("f", "abcdef")
			f := t.open("f", os.O_RDONLY)
			buf := make([]byte, 2)
			if n, err := f.ReadAt(buf, 3); n != 2 || err != nil || string(buf) != "de" {
				t.Errorf("ReadAt = %d, %v, %q", n, err, buf)
			}
			if n, err := f.Read(buf); n != 2 || err != nil || string(buf) != "ab" {
				t.Errorf("Read after it = %d, %v, %q", n, err, buf)
			}
		}},
		{"ReadAt says where the file ends", 0, func(t tree) {
			t.write("f", "abcdef")
			f := t.open("f", os.O_RDONLY)
			buf := make([]byte, 4)
			if n, err := f.ReadAt(buf, 4); n != 2 || err != io.EOF || string(buf[:n]) != "ef" {
				t.Errorf("ReadAt = %d, %v, %q, want 2, io.EOF", n, err, buf[:n])
			}
			if n, err := f.ReadAt(buf, 9); n != 0 || err != io.EOF {
				t.Errorf("ReadAt = %d, %v, want 0, io.EOF", n, err)
			}
			if n, err := f.ReadAt(buf, -1); err == nil {
				t.Errorf("ReadAt(-1) = %d", n)
			}
		}},
		{"WriteAt does not move", 0, func(t tree) {
			t.write("f", "abcdef")
			f := t.open("f", rw)
			if n, err := f.WriteAt([]byte("XY"), 4); n != 2 || err != nil {
				t.Errorf("WriteAt = %d, %v", n, err)
			}
			t.put(f, "Z")
			t.close(f)
			t.has("f", "ZbcdXY")
		}},
		{"WriteAt after the end", 0, func(t tree) {
			f := t.open("f", rw|os.O_CREATE)
			if n, err := f.WriteAt([]byte("c"), 2); n != 1 || err != nil {
				t.Errorf("WriteAt = %d, %v", n, err)
			}
			if n, err := f.WriteAt([]byte("c"), -1); err == nil {
				t.Errorf("WriteAt(-1) = %d", n)
			}
			t.close(f)
			t.has("f", "\x00\x00c")
		}},
		{"truncate shortens", 0, func(t tree) {
			t.write("f", "abcdef")
			f := t.open("f", rw)
			t.must(f.Truncate(2))
			t.close(f)
			t.has("f", "ab")
		}},
		{"truncate lengthens with zeros", 0, func(t tree) {
			t.write("f", "abcd")
			f := t.open("f", rw)
			t.must(f.Truncate(1))
			t.must(f.Truncate(3))
			t.close(f)
			t.has("f", "a\x00\x00")
		}},
		{"truncate does not move", 0, func(t tree) {
			t.write("f", "abcd")
			f := t.open("f", rw)
			_, err := f.Seek(3, io.SeekStart)
			t.must(err)
			t.must(f.Truncate(0))
			t.put(f, "x")
			t.close(f)
			t.has("f", "\x00\x00\x00x")
		}},
		{"truncate to less than nothing", 0, func(t tree) {
			f := t.open("f", rw|os.O_CREATE)
			t.want(f.Truncate(-1), "invalid", func(err error) bool { return err != nil })
		}},
		{"stat of an open file", 0, func(t tree) {
			f := t.open("f", rw|os.O_CREATE)
			t.put(f, "abc")
			info, err := f.Stat()
			t.must(err)
			if info.Size() != 3 || !info.Mode().IsRegular() || info.Name() != "f" {
				t.Errorf("Stat = %q, %d bytes, %v", info.Name(), info.Size(), info.Mode())
			}
		}},
		{"name of an open file", 0, func(t tree) {
			t.mkdir("d")
			f := t.open("d/f", rw|os.O_CREATE)
			if path.Base(f.Name()) != "f" {
				t.Errorf("Name = %q", f.Name())
			}
		}},
		{"sync works", 0, func(t tree) {
			f := t.open("f", rw|os.O_CREATE)
			t.put(f, "abc")
			t.must(f.Sync())
			t.close(f)
			t.has("f", "abc")
		}},
		{"a closed file does nothing", 0, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", rw)
			t.close(f)
			buf := make([]byte, 1)
			_, readErr := f.Read(buf)
			_, readAtErr := f.ReadAt(buf, 0)
			_, writeErr := f.Write(buf)
			_, writeAtErr := f.WriteAt(buf, 0)
			_, seekErr := f.Seek(0, io.SeekStart)
			for name, err := range map[string]error{
				"Read": readErr, "ReadAt": readAtErr, "Write": writeErr, "WriteAt": writeAtErr, "Seek": seekErr,
				"Truncate": f.Truncate(0), "Close": f.Close(),
			} {
				if !errors.Is(err, fs.ErrClosed) && !errors.Is(err, afero.ErrFileClosed) {
					t.Errorf("%s = %v, want fs.ErrClosed", name, err)
				}
			}
			t.has("f", "abc")
		}},
		{"a handle sees what another writes", sharedHandles, func(t tree) {
			t.write("f", "abc")
			r, w := t.open("f", os.O_RDONLY), t.open("f", os.O_WRONLY)
			t.put(w, "XYZ1")
			if got, err := io.ReadAll(r); err != nil || string(got) != "XYZ1" {
				t.Errorf("read %q, %v", got, err)
			}
		}},
		{"a handle sees that another truncates", sharedHandles, func(t tree) {
			t.write("f", "abc")
			r, w := t.open("f", os.O_RDONLY), t.open("f", os.O_WRONLY)
			t.must(w.Truncate(1))
			if got, err := io.ReadAll(r); err != nil || string(got) != "a" {
				t.Errorf("read %q, %v", got, err)
			}
		}},
		{"written bytes are there before the close", 0, func(t tree) {
			f := t.open("f", rw|os.O_CREATE)
			t.put(f, "abc")
			t.has("f", "abc")
		}},
		{"handles have positions of their own", 0, func(t tree) {
			t.write("f", "abc")
			a, b := t.open("f", os.O_RDONLY), t.open("f", os.O_RDONLY)
			buf := make([]byte, 2)
			_, err := io.ReadFull(a, buf)
			t.must(err)
			_, err = io.ReadFull(b, buf)
			t.must(err)
			if string(buf) != "ab" {
				t.Errorf("second handle read %q, want %q", buf, "ab")
			}
		}},
		{"a removed file stays readable", openRemoved, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", rw)
			t.must(t.fs.Remove("f"))
			t.put(f, "X")
			_, err := f.Seek(0, io.SeekStart)
			t.must(err)
			if got, err := io.ReadAll(f); err != nil || string(got) != "Xbc" {
				t.Errorf("read %q, %v", got, err)
			}
			t.close(f)
			t.gone("f")
		}},
		{"a removed file does not get in the way", openRemoved, func(t tree) {
			t.write("f", "old")
			f := t.open("f", rw)
			t.must(t.fs.Remove("f"))
			t.write("f", "new")
			t.put(f, "X")
			t.close(f)
			t.has("f", "new")
		}},
		{"a replaced file stays readable", openRemoved, func(t tree) {
			t.write("f", "old")
			t.write("g", "new")
			f := t.open("f", os.O_RDONLY)
			t.must(t.fs.Rename("g", "f"))
			if got, err := io.ReadAll(f); err != nil || string(got) != "old" {
				t.Errorf("read %q, %v", got, err)
			}
			t.has("f", "new")
		}},
		{"a renamed file stays the same", openRemoved, func(t tree) {
			t.write("f", "abc")
			f := t.open("f", rw)
			t.must(t.fs.Rename("f", "g"))
			t.put(f, "X")
			t.close(f)
			t.has("g", "Xbc")
			t.gone("f")
		}},
		{"a directory is not read as a file", 0, func(t tree) {
			t.mkdir("d")
			f := t.open("d", os.O_RDONLY)
			_, err := f.Read(make([]byte, 1))
			t.want(err, "is a directory", IsDir)
		}},
	}
}
