package recordlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/recordlog"
)

func opener(f recordlog.File) func() (recordlog.File, error) {
	return func() (recordlog.File, error) { return f, nil }
}

func TestData(t *testing.T) {
	t.Parallel()
	f := newFile(t, []byte("kept and dropped"))
	d := recordlog.NewData(opener(f), 4)
	one, err := d.Put([]byte("one"))
	fstest.Must(t, err)
	at, err := d.Append([]byte("two"))
	fstest.Must(t, err)
	if one.Offset != 4 || at != 7 {
		t.Errorf("put at %d and %d", one.Offset, at)
	}
	since := d.Since()
	if since.Offset != 4 || since.Length != 6 {
		t.Errorf("since the beginning: %+v", since)
	}
	if again := d.Since(); again.Offset != 10 || again.Length != 0 {
		t.Errorf("since then: %+v", again)
	}
	fstest.Must(t, d.Sync())
	if got := bytesOf(t, f); string(got) != "keptonetwo" {
		t.Errorf("the file has %q", got)
	}
	p := make([]byte, 3)
	if n, err := d.ReadAt(p, 7); n != 3 || err != nil || string(p) != "two" {
		t.Errorf("ReadAt: %q, %d, %v", p, n, err)
	}
	if n, err := d.ReadAt(p, 9); n != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("ReadAt the end: %d, %v", n, err)
	}
	got, err := recordlog.Get(d, one, 3)
	if string(got) != "one" || err != nil {
		t.Errorf("Get: %q, %v", got, err)
	}
	if end, err := recordlog.Check(d, since); end != 10 || err != nil {
		t.Errorf("Check: %d, %v", end, err)
	}
	shifted, long, negative, huge, other := one, one, one, one, one
	shifted.Offset++
	long.Length += 100
	negative.Offset = -1
	huge.Offset, huge.Length = math.MaxInt64, math.MaxInt64
	other.SHA256 = since.SHA256
	for name, bad := range map[string]recordlog.Span{
		"shifted": shifted, "long": long, "negative": negative, "huge": huge, "other": other,
	} {
		if _, err := recordlog.Get(d, bad, 1000); !errors.Is(err, recordlog.ErrBytes) {
			t.Errorf("Get of a %s span: %v", name, err)
		}
		if _, err := recordlog.Check(d, bad); !errors.Is(err, recordlog.ErrBytes) {
			t.Errorf("Check of a %s span: %v", name, err)
		}
	}
	if _, err := recordlog.Get(d, one, 2); !errors.Is(err, recordlog.ErrBytes) {
		t.Errorf("Get of more than is read: %v", err)
	}
	fstest.Must(t, d.Close())
	full := recordlog.NewData(opener(f), recordlog.MaxData-2)
	if _, err := full.Append([]byte("xyz")); !errors.Is(err, recordlog.ErrFull) {
		t.Errorf("more than there is room for: %v", err)
	}
}

// A Data without any entries makes no file.
func TestData_lazy(t *testing.T) {
	t.Parallel()
	missing := errors.New("not there")
	d := recordlog.NewData(func() (recordlog.File, error) { return nil, missing }, 0)
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		t.Error(err)
	}
	if _, err := d.Append(nil); !errors.Is(err, missing) {
		t.Error(err)
	}
	if _, err := d.ReadAt(nil, 0); !errors.Is(err, missing) {
		t.Error(err)
	}
}

// failing opens a file in memory on which every operation of a kind fails while fail is set.
func failing(t *testing.T, kind string, fail *error) recordlog.File {
	t.Helper()
	fsys := errorfs.Wrap(fstest.Raise(t, afero.NewMemMapFs()), errorfs.Before(func(op *errorfs.Op) error {
		if op.Kind == kind {
			return *fail
		}
		return nil
	}))
	f, err := recordlog.Create(fsys, "f")
	fstest.Must(t, err)
	return f
}

// After a failed write the file continues where it was; after a failed sync it does not.
func TestFaults(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var fail error
	f := failing(t, "pwrite", &fail)
	w := recordlog.NewWriter(f, key, recordlog.Start())
	d := recordlog.NewData(opener(failing(t, "pwrite", &fail)), 0)
	for i := range 6 {
		if fail = nil; i%2 == 0 {
			fail = broken
		}
		if err := w.Append(fmt.Appendf(nil, "%d", i)); !errors.Is(err, fail) {
			t.Errorf("record %d: %v", i, err)
		}
		if _, err := d.Append(fmt.Appendf(nil, "%d", i)); !errors.Is(err, fail) {
			t.Errorf("bytes %d: %v", i, err)
		}
	}
	if got := bytesOf(t, f); !bytes.Equal(got, forge(key, "1", "3", "5")) {
		t.Errorf("the file has %q", got)
	}
	if since := d.Since(); since.Length != 3 {
		t.Errorf("appended: %+v", since)
	}

	fail = broken
	w = recordlog.NewWriter(failing(t, "sync", &fail), key, recordlog.Start())
	d = recordlog.NewData(opener(failing(t, "sync", &fail)), 0)
	fstest.Must(t, w.Append([]byte("{}")))
	_, err := d.Append([]byte("x"))
	fstest.Must(t, err)
	for range 2 {
		if err := w.Sync(); !errors.Is(err, broken) {
			t.Errorf("Sync of records: %v", err)
		}
		if err := d.Sync(); !errors.Is(err, broken) {
			t.Errorf("Sync of bytes: %v", err)
		}
		fail = nil
	}
	if err := w.Append([]byte("{}")); !errors.Is(err, broken) {
		t.Errorf("Append after that: %v", err)
	}
	if _, err := d.Append(nil); !errors.Is(err, broken) {
		t.Errorf("Append after that: %v", err)
	}
}

func textOf(t *testing.T, file []byte) (lines []string) {
	t.Helper()
	fstest.Must(t, recordlog.ReadText(bytes.NewReader(file), func(l recordlog.Line) bool {
		lines = append(lines, fmt.Sprintf("%d %s", l.Ordinal, l.Text))
		return true
	}))
	return lines
}

func TestText(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 2, 13, 12, 5, 30, 123456789, time.FixedZone("", 3600))
	f := newFile(t, []byte("1 2025-01-01T00:00:00.000Z before\n2 half a li"))
	log := recordlog.NewText(opener(f))
	fstest.Must(t, log.Write(3, at, "one\r\ntwo words\n\nlast"))
	fstest.Must(t, log.Write(4, at, ""))
	fstest.Must(t, log.End(3, at))
	fstest.Must(t, log.Sync())
	const want = `1 2025-01-01T00:00:00.000Z before
3 2025-02-13T11:05:30.123Z one
3 2025-02-13T11:05:30.123Z two words
3 2025-02-13T11:05:30.123Z 
3 2025-02-13T11:05:30.123Z last
4 2025-02-13T11:05:30.123Z 
`
	if got := string(bytesOf(t, f)); got != want {
		t.Errorf("written:\n%s\nwant:\n%s", got, want)
	}
	if got := strings.Join(textOf(t, []byte(want)), "|"); got != "1 before|3 one|3 two words|3 |3 last|4 " {
		t.Errorf("read: %s", got)
	}
	fstest.Must(t, log.Close())
	fstest.Must(t, recordlog.NewText(nil).Close())
	fstest.Must(t, recordlog.NewText(nil).Sync())
}

// Long lines become several lines, without splitting a character, and can be read again.
func TestText_long(t *testing.T) {
	t.Parallel()
	f := newFile(t, nil)
	log := recordlog.NewText(opener(f))
	long := "x" + strings.Repeat("é", 20_000)
	fstest.Must(t, log.Write(1, time.Time{}, long))
	fstest.Must(t, log.Write(1, time.Time{}, strings.Repeat("\x80", 40_000)))
	var got strings.Builder
	for _, line := range textOf(t, bytesOf(t, f))[:3] {
		got.WriteString(strings.TrimPrefix(line, "1 "))
	}
	if got.String() != long {
		t.Errorf("%d bytes instead of %d", got.Len(), len(long))
	}
}

// Text that was not written by Text is skipped, and the lines after it are read.
func TestReadText_noise(t *testing.T) {
	t.Parallel()
	noise := "1 t one\nx t no number\n-1 t negative\n\n2\n2 t\n3 t " + strings.Repeat("long", 50_000) + " 4 t x\n5 t five\n6 t torn"
	if got := strings.Join(textOf(t, []byte(noise)), "|"); got != "1 one|5 five" {
		t.Errorf("read: %.200s", got)
	}
	if err := recordlog.ReadText(iotest.ErrReader(fs.ErrClosed), nil); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	calls := 0
	fstest.Must(t, recordlog.ReadText(strings.NewReader("1 t a\n1 t b\n"), func(recordlog.Line) bool { calls++; return false }))
	if calls != 1 {
		t.Errorf("%d lines after the first was enough", calls)
	}
}

// A job that writes too much loses the rest, as does the log of a run, and a last line has the size of the loss.
func TestText_bounds(t *testing.T) {
	t.Parallel()
	const head = len("1 2025-02-13T11:05:30.123Z \n")
	f := newFile(t, nil)
	log := recordlog.NewTextWithin(opener(f), 4000, 1000)
	line := strings.Repeat("y", 100-head)
	for range 12 {
		fstest.Must(t, log.Write(1, time.Time{}, line))
	}
	fstest.Must(t, log.Write(1, time.Time{}, "short"))
	fstest.Must(t, log.Write(2, time.Time{}, "another job"))
	fstest.Must(t, log.End(1, time.Time{}))
	got := textOf(t, bytesOf(t, f))
	const note = "1 [6 more lines of 365 bytes were dropped: "
	if len(got) != 9 || got[6] != "1 "+line || got[7] != "2 another job" || !strings.HasPrefix(got[8], note) {
		t.Errorf("%d lines: %q", len(got), got)
	}
	for job := 3; job < 20; job++ {
		for range 5 {
			fstest.Must(t, log.Write(job, time.Time{}, line))
		}
		fstest.Must(t, log.End(job, time.Time{}))
	}
	if size := len(bytesOf(t, f)); size > 4000 || size < 3500 {
		t.Errorf("the log has %d bytes", size)
	}
}

// Only a regular file is opened, whatever the entry is.
func TestOpen(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "f", "text")
	fstest.Must(t, root.Mkdir("d", 0o755))
	fstest.Must(t, root.SymlinkIfPossible("f", "link"))
	for name, want := range map[string]error{
		"missing": fs.ErrNotExist, "d": names.ErrNotRegular, "link": names.ErrNotRegular, "../f": names.ErrEscape,
	} {
		if f, err := recordlog.Open(root, name); !errors.Is(err, want) {
			t.Errorf("Open of %s: %v, %v", name, f, err)
		}
	}
	f, err := recordlog.Open(root, "f")
	fstest.Must(t, err)
	if got := string(bytesOf(t, f)); got != "text" {
		t.Errorf("f has %q", got)
	}
	_, err = f.WriteAt([]byte("T"), 0)
	fstest.Must(t, err)
	fstest.Must(t, f.Close())
	if _, err := recordlog.Create(root, "f"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of an existing file: %v", err)
	}
	if _, err := recordlog.Create(root, "link"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create through a link: %v", err)
	}
}
