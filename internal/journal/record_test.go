package journal_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
)

var records = rapid.Custom(func(t *rapid.T) journal.Record {
	name := rapid.OneOf(rapid.StringMatching(`[a-z./ -]{0,12}`), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	number := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64(), rapid.Just(uint64(math.MaxUint64)))
	size := rapid.Int64Range(0, math.MaxInt64)
	if rapid.Bool().Draw(t, "plain") {
		name = rapid.StringMatching(`[a-z./ -]{0,12}`)
	} else {
		size = rapid.Int64Range(-math.MaxInt64, math.MaxInt64)
	}
	signed := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64(), rapid.Just(int64(math.MaxInt64)), rapid.Just(int64(-math.MaxInt64)))
	state := func(label string) change.State {
		s := change.State{
			Kind: change.Kind(rapid.IntRange(0, 4).Draw(t, label)), Mode: fs.FileMode(rapid.Uint32().Draw(t, "mode")),
			Size: size.Draw(t, "size"), Target: name.Draw(t, "target"),
			ID: capability.Identity{
				Dev: number.Draw(t, "dev"), Ino: number.Draw(t, "ino"), Nlink: number.Draw(t, "nlink"),
				UID: uint32(number.Draw(t, "uid")), GID: uint32(number.Draw(t, "gid")), CTime: signed.Draw(t, "ctime"),
			},
		}
		if rapid.Bool().Draw(t, "timed") {
			s.ModTime = time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "sec"), rapid.Int64Range(0, 999_999_999).Draw(t, "nsec"))
		}
		if rapid.Bool().Draw(t, "hashed") {
			s.Hash = change.HashOf([]byte(s.Target))
		}
		return s
	}
	flag := func(label string) bool { return rapid.Bool().Draw(t, label) }
	return journal.Record{
		Path: name.Draw(t, "path"), From: name.Draw(t, "from"), Old: state("old"), New: state("new"), Slot: rapid.IntRange(0, 1<<20).Draw(t, "slot"),
		Image: rapid.SampledFrom([]journal.Image{"", "link", "copy", "other"}).Draw(t, "image"), Moved: flag("moved"), Attr: flag("attr"),
		Trash: flag("trash"), Permanent: flag("permanent"), FarDir: name.Draw(t, "far"),
	}
})

// TestRecordLines: written records are JSON and can be read again, with any bytes in them.
func TestRecordLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := records.Draw(t, "record")
		line := journal.LineOf(&r)
		got, err := journal.Scan(line)
		if err != nil || !cmp.Equal(got, r) || !json.Valid(line) || bytes.ContainsAny(line, "\n") {
			t.Fatalf("%s, %v:\n%s", line, err, cmp.Diff(r, got))
		}
	})
}

// TestRecordLine pins the format: later versions must be able to read a journal.
func TestRecordLine(t *testing.T) {
	t.Parallel()
	r := journal.Record{
		Path: "a\xff\"%<", From: "b", Slot: 7, Image: journal.Linked, Moved: true, Attr: true, Trash: true, Permanent: true, FarDir: "d",
		Old: change.State{
			Kind: change.File, Mode: 0o644 | fs.ModeSetuid, Size: 9, Hash: change.Hash{1}, ModTime: time.Unix(-5, 6),
			ID: capability.Identity{Dev: 1, Ino: 2, Nlink: 3, UID: 4, GID: 5, CTime: -6},
		},
		New: change.State{Kind: change.Symlink, Target: "t"},
	}
	want := `{"path":"a%ff\"%25\u003c","from":"b","old":{"kind":"file","mode":8389028,"size":9,"sha256":"01` + strings.Repeat("00", 31) +
		`","mtime":[-5,6],"id":{"dev":1,"ino":2,"nlink":3,"uid":4,"gid":5,"ctime":-6}},"new":{"kind":"symlink","target":"t"},` +
		`"slot":7,"image":"link","moved":true,"attr":true,"trash":true,"permanent":true,"far_dir":"d"}`
	if line := string(journal.LineOf(&r)); line != want {
		t.Errorf("wrote\n%s, want\n%s", line, want)
	}
}

// TestScan_refuses: a damaged line is refused, or is JSON with exactly the content that was read.
func TestScan_refuses(t *testing.T) {
	t.Parallel()
	r := sample().Records[0]
	r.Old.ID = capability.Identity{Dev: 1, Ino: 22, Nlink: 3, UID: 4, GID: 5, CTime: -6}
	r.Trash, r.From, r.FarDir, r.Image = true, "x/y", "z", journal.Linked
	line := journal.LineOf(&r)
	if _, err := journal.Scan(line); err != nil {
		t.Fatalf("cannot be read: %s, %v", line, err)
	}
	check := func(bad []byte) {
		t.Helper()
		got, err := journal.Scan(bad)
		if err != nil {
			return
		}
		again, err := journal.Scan(journal.LineOf(&got))
		if err != nil || !cmp.Equal(got, again) || !json.Valid(bad) || len(bad)-len(journal.LineOf(&got)) > len(`,"far_dir":""`) {
			t.Errorf("%s was read as %+v, %v", bad, got, err)
		}
	}
	for i := range line {
		check(line[:i])
		check(slices.Delete(slices.Clone(line), i, i+1))
		for _, c := range []byte("0\"\\%,}-1e. \x00\xff") {
			check(slices.Concat(line[:i], []byte{c}, line[i:]))
			check(slices.Concat(line[:i], []byte{c}, line[i+1:]))
		}
	}
	for _, change := range [][2]string{
		{`"ino":22`, `"ino":18446744073709551616`}, {`"uid":4`, `"uid":4294967296`}, {`"slot":`, `"slot":99999999999`},
		{`"size":`, `"size":9223372036854775807`}, {`"mtime":[`, `"mtime":[-`}, {`"ino":22`, `"ino":022`},
	} {
		check([]byte(strings.Replace(string(line), change[0], change[1], 1)))
	}
}

// TestDecodeHeader: it returns the header of every file that can be decoded, and the same refusals.
func TestDecodeHeader(t *testing.T) {
	t.Parallel()
	for _, key := range [][]byte{nil, []byte("a key")} {
		p := sample()
		data := encode(t, p, key)
		h, err := journal.DecodeHeader(data, key)
		if want := (&journal.Plan{Header: p.Header}); err != nil || !cmp.Equal(h, want) {
			t.Errorf("%v: %s", err, cmp.Diff(h, want))
		}
		for i := range data {
			bad := slices.Clone(data)
			bad[i] ^= 1
			if _, err := journal.DecodeHeader(bad, key); err == nil {
				if _, err := journal.Decode(bad, key); err == nil || len(key) == 0 {
					t.Fatalf("byte %d is not checked", i)
				}
				if sum := bytes.LastIndex(data, []byte("sum ")); i < sum {
					t.Fatalf("byte %d before the sum is not checked", i)
				}
			}
		}
		if _, err := journal.DecodeHeader(data, []byte("another key")); err == nil {
			t.Error("any key is accepted")
		}
	}
	if _, err := journal.DecodeHeader(forge(nil, strings.Replace(goodHeader, sampleID(t), "nonsense", 1)), nil); err == nil {
		t.Error("the id was accepted")
	}
}

// TestPeekHeader: it returns the header of a plan with damage after it and of another key, and no damaged header.
func TestPeekHeader(t *testing.T) {
	t.Parallel()
	d := disk.Open(afero.NewMemMapFs())
	for _, p := range []*journal.Plan{sample(), {Header: sample().Header}} {
		if len(p.Records) == 0 {
			p.Pipeline = strings.Repeat("long", 20_000)
		}
		data := encode(t, p, []byte("a key"))
		records := bytes.IndexByte(data, '\n') + 1
		records += bytes.IndexByte(data[records:], '\n') + 1
		for name, key := range map[string]string{"whole": "a key", "of another key": "another", "damaged": "a key", "damaged header": "a key"} {
			bad := slices.Clone(data)
			switch name {
			case "damaged":
				bad[len(bad)-3] ^= 1
			case "damaged header":
				bad[records-3] ^= 1
			}
			if err := afero.WriteFile(d.FS, "plan", bad, 0o600); err != nil {
				t.Fatal(err)
			}
			h, err := journal.PeekHeader(d, "plan", []byte(key))
			isLong := records > 64<<10 // read as a whole, and so are the sums
			want := name == "whole" || !isLong && name != "damaged header"
			if (err == nil) != want || err == nil && !cmp.Equal(h, &journal.Plan{Header: p.Header}) {
				t.Errorf("%s, header of %d bytes: %v, %v", name, records, h, err)
			}
		}
	}
}

// sampleID is the id in goodHeader.
func sampleID(t *testing.T) string {
	t.Helper()
	_, rest, ok := strings.Cut(goodHeader, `"id":"`)
	id, _, ok2 := strings.Cut(rest, `"`)
	if !ok || !ok2 {
		t.Fatal("the header has no id")
	}
	return id
}
