package recordlog_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/recordlog"
)

var key = []byte("0123456789abcdef0123456789abcdef")

// forge makes a file of records without the package, so it also documents the format.
func forge(key []byte, payloads ...string) []byte {
	var b bytes.Buffer
	last := []byte("millrace record1")
	for _, p := range payloads {
		h := hmac.New(sha256.New, key)
		h.Write(last)
		h.Write([]byte(p))
		last = h.Sum(nil)[:16]
		line := fmt.Sprintf("%x %s", last, p)
		fmt.Fprintf(&b, "%08x %s\n", crc32.Checksum([]byte(line), crc32.MakeTable(crc32.Castagnoli)), line)
	}
	return b.Bytes()
}

// read returns the records of a file, and the reader after them.
func read(file, key []byte) ([]string, *recordlog.Reader) {
	r := recordlog.NewReader(file, key)
	return all(r), r
}

func all(r *recordlog.Reader) (records []string) {
	for {
		json, ok := r.Next()
		if !ok {
			return records
		}
		records = append(records, string(json))
	}
}

// newFile makes a file with the bytes in memory.
func newFile(t testing.TB, data []byte) afero.File {
	t.Helper()
	f, err := recordlog.Create(afero.NewMemMapFs(), "run")
	fstest.Must(t, err)
	if len(data) > 0 {
		_, err = f.WriteAt(data, 0)
		fstest.Must(t, err)
	}
	return f
}

func bytesOf(t testing.TB, f recordlog.File) []byte {
	t.Helper()
	info, err := f.Stat()
	fstest.Must(t, err)
	data := make([]byte, info.Size())
	if len(data) > 0 {
		if n, err := f.ReadAt(data, 0); n < len(data) {
			t.Fatal(err)
		}
	}
	return data
}

var some = []string{`{"a":1}`, `{"b":"two"}`, `{}`, `{"c":[1,2,3],"d":"` + strings.Repeat("x", 200) + `"}`}

func TestFormat(t *testing.T) {
	t.Parallel()
	f := newFile(t, nil)
	w := recordlog.NewWriter(f, key, recordlog.Start())
	for _, s := range some {
		fstest.Must(t, w.Append([]byte(s)))
	}
	fstest.Must(t, w.Sync())
	if got, want := bytesOf(t, f), forge(key, some...); !bytes.Equal(got, want) {
		t.Fatalf("written:\n%s\nwant:\n%s", got, want)
	}
	got, r := read(bytesOf(t, f), key)
	if !slices.Equal(got, some) || r.Stop() != nil || r.End() != w.End() || r.End().Count != len(some) {
		t.Errorf("read %q, stop %v, end %+v, the writer's %+v", got, r.Stop(), r.End(), w.End())
	}
}

// Truncated at every byte, a file has the complete records before it, and the next writer continues after them.
func TestCutEverywhere(t *testing.T) {
	t.Parallel()
	whole := forge(key, some...)
	ends := []int{0}
	for i := range some {
		ends = append(ends, len(forge(key, some[:i+1]...)))
	}
	for cut := range len(whole) + 1 {
		want := 0
		for want < len(some) && ends[want+1] <= cut {
			want++
		}
		got, r := read(whole[:cut], key)
		if !slices.Equal(got, some[:want]) {
			t.Fatalf("cut at %d: %q, want %q", cut, got, some[:want])
		}
		if atEnd := cut == ends[want]; (r.Stop() == nil) != atEnd || !atEnd && r.Stop().Reason != recordlog.Torn {
			t.Fatalf("cut at %d: stop %v", cut, r.Stop())
		}
		f := newFile(t, whole[:cut])
		w := recordlog.NewWriter(f, key, r.End())
		fstest.Must(t, w.Append([]byte(`{"on":1}`)))
		if got, wanted := bytesOf(t, f), forge(key, append(slices.Clone(some[:want]), `{"on":1}`)...); !bytes.Equal(got, wanted) {
			t.Fatalf("cut at %d and continued:\n%s\nwant:\n%s", cut, got, wanted)
		}
	}
}

// A flipped bit is never skipped, and nothing after it is read.
func TestFlipEverywhere(t *testing.T) {
	t.Parallel()
	whole := forge(key, some...)
	for at := range whole {
		for _, bit := range []byte{0x01, 0x20, 0x80} {
			harmed := bytes.Clone(whole)
			harmed[at] ^= bit
			got, r := read(harmed, key)
			if want := some[:bytes.Count(whole[:at], []byte("\n"))]; !slices.Equal(got, want) || r.Stop() == nil {
				t.Fatalf("byte %d, bit %#x: %q, want %q, stop %v", at, bit, got, want, r.Stop())
			}
			if stop := r.Stop(); stop.Offset != r.End().Offset || stop.Record != len(got)+1 || stop.Reason == recordlog.Unsigned {
				t.Fatalf("byte %d, bit %#x: stop %v", at, bit, stop)
			}
		}
	}
}

// Whole lines that are not at the position for which they were signed are refused, even if their checksum is right.
func TestChain(t *testing.T) {
	t.Parallel()
	lines := bytes.SplitAfter(forge(key, some...), []byte("\n"))[:len(some)]
	other := bytes.SplitAfter(forge([]byte("another key, as long"), some...), []byte("\n"))[:len(some)]
	begun := bytes.SplitAfter(forge(key, append([]string{`{"z":0}`}, some...)...), []byte("\n"))
	join := func(lines ...[]byte) []byte { return bytes.Join(lines, nil) }
	tests := map[string]struct {
		file []byte
		want int // records that are read before the stop
	}{
		"first removed":                  {join(lines[1:]...), 0},
		"second removed":                 {join(lines[0], lines[2], lines[3]), 1},
		"two swapped":                    {join(lines[0], lines[2], lines[1], lines[3]), 1},
		"second twice":                   {join(lines[0], lines[1], lines[1], lines[2]), 2},
		"a line of another key inserted": {join(lines[0], lines[1], other[2], lines[2]), 2},
		"all of another key":             {join(other...), 0},
		"a line of another file":         {join(lines[0], lines[1], begun[3]), 2},
	}
	for name, tt := range tests {
		got, r := read(tt.file, key)
		if !slices.Equal(got, some[:tt.want]) || r.Stop() == nil || r.Stop().Reason != recordlog.Unsigned {
			t.Errorf("%s: %q, stop %v", name, got, r.Stop())
		}
	}
	if got, r := read(join(lines...), nil); len(got) > 0 || r.Stop() == nil || r.Stop().Reason != recordlog.Unsigned {
		t.Errorf("without a key: %q, stop %v", got, r.Stop())
	}
	if got := all(recordlog.NewUnverified(join(other...))); !slices.Equal(got, some) {
		t.Errorf("unverified: %q", got)
	}
	if text := (&recordlog.Stop{Reason: recordlog.Torn, Offset: 12, Record: 3}).Error(); text != "record 3 at byte 12: half a record" {
		t.Error(text)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	f := newFile(t, nil)
	w := recordlog.NewWriter(f, key, recordlog.Start())
	long := []byte(`"` + strings.Repeat("x", recordlog.MaxRecord-2) + `"`)
	fstest.Must(t, w.Append(long))
	for name, bad := range map[string][]byte{"too long": append(slices.Clone(long), 'x'), "empty": nil, "two lines": []byte("{\n}")} {
		if err := w.Append(bad); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := recordlog.NewWriter(f, nil, w.End()).Append([]byte("{}")); err == nil || !strings.Contains(err.Error(), "no key") {
		t.Errorf("without a key: %v", err)
	}
	var err error
	for err == nil {
		err = w.Append(long)
	}
	if !errors.Is(err, recordlog.ErrFull) {
		t.Fatal(err)
	}
	last := 0
	for ; w.AppendLast(long) == nil; last++ {
	}
	if last < 3 {
		t.Errorf("%d records have room in a full file", last)
	}
	file := bytesOf(t, f)
	if len(file) > recordlog.MaxFile {
		t.Errorf("the file has %d bytes", len(file))
	}
	if got, r := read(file, key); len(got) != w.End().Count || r.Stop() != nil {
		t.Errorf("%d records, %v", len(got), r.Stop())
	}
	// A line that does not end within the limit, and a file that does not.
	noLine := append(forge(key, "{}"), bytes.Repeat([]byte("x"), 2*recordlog.MaxRecord)...)
	if got, r := read(noLine, key); len(got) != 1 || r.Stop().Reason != recordlog.Damaged {
		t.Errorf("a long line: %q, %v", got, r.Stop())
	}
	short := slices.Repeat([]string{strings.Repeat("x", recordlog.MaxRecord)}, recordlog.MaxFile/recordlog.MaxRecord+2)
	tooLarge := forge(key, short...)
	for _, cut := range []int{recordlog.MaxFile + 1, len(tooLarge)} {
		got, r := read(tooLarge[:cut], key)
		if r.Stop() == nil || r.Stop().Reason != recordlog.TooLarge || r.End().Offset > recordlog.MaxFile || len(got) < 100 {
			t.Errorf("%d bytes: %d records, stop %v", cut, len(got), r.Stop())
		}
	}
}

// FuzzReader: whatever a file contains, the records that are read from it were signed by a writer with the key, in this
// order.
func FuzzReader(f *testing.F) {
	f.Add(forge(key, some...))
	f.Add(forge(key, some...)[:60])
	f.Add(append(forge(key, `{}`), forge(key, `{}`)...))
	f.Add([]byte("00000000 00000000000000000000000000000000 {}\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, r := read(file, key)
		if want := forge(key, got...); !bytes.HasPrefix(file, want) || r.End().Offset != int64(len(want)) {
			t.Fatalf("%q was read of %q", got, file)
		}
		if (r.Stop() == nil) != (int(r.End().Offset) == len(file)) {
			t.Fatalf("stop %v at %d of %d", r.Stop(), r.End().Offset, len(file))
		}
		if loose := all(recordlog.NewUnverified(file)); len(loose) < len(got) {
			t.Fatalf("%d records with the key, %d without", len(got), len(loose))
		}
	})
}
