package fsutil_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/fsutil"
)

// Journals and plans are read by later versions, so the text is part of the contract.
func TestState_text(t *testing.T) {
	t.Parallel()
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of FIPS 180-2
	for text, want := range map[string]fsutil.State{
		`{"kind":"absent"}`:                       {},
		`{"kind":"dir","mode":493}`:               {Kind: fsutil.Dir, Mode: 0o755},
		`{"kind":"symlink","target":"../x"}`:      {Kind: fsutil.Symlink, Target: "../x"},
		`{"kind":"other","id":{"dev":1,"ino":2}}`: {Kind: fsutil.Other, ID: fsutil.Identity{Dev: 1, Ino: 2}},
		`{"kind":"file","mode":420,"size":3,"sha256":"` + abc + `","mtime":"2025-02-13T12:05:30Z"}`: {
			Kind: fsutil.File, Mode: 0o644, Size: 3, Hash: fsutil.HashOf([]byte("abc")),
			ModTime: time.Date(2025, 2, 13, 12, 5, 30, 0, time.UTC),
		},
	} {
		if got, err := json.Marshal(want); err != nil || string(got) != text {
			t.Errorf("Marshal = %s, %v, want %s", got, err, text)
		}
		var got fsutil.State
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("Unmarshal %s = %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		`{"kind":"File"}`:                    `unknown kind "File"`,
		`{"kind":""}`:                        `unknown kind ""`,
		`{"sha256":"ba78"}`:                  "64 hexadecimal digits, got 4",
		`{"sha256":"` + abc[1:] + `x"}`:      "invalid byte",
		`{"sha256":"` + abc + abc[:2] + `"}`: "64 hexadecimal digits, got 66",
	} {
		var s fsutil.State
		if err := json.Unmarshal([]byte(text), &s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Unmarshal %s: %v, want an error with %q", text, err, want)
		}
	}
	h := fsutil.HashOf(nil)
	if err := h.UnmarshalText(nil); err != nil || h != (fsutil.Hash{}) || h.String() != "" {
		t.Errorf("no text gives %q, %v, want the zero Hash", h, err)
	}
}

func TestState_SameContent(t *testing.T) {
	t.Parallel()
	file := fsutil.State{Kind: fsutil.File, Mode: 0o644, Size: 1, Hash: fsutil.HashOf([]byte("a"))}
	with := func(s fsutil.State, change func(s *fsutil.State)) fsutil.State { change(&s); return s }
	later := func(s *fsutil.State) { s.ModTime, s.ID.Ino = time.Unix(1, 0), 7 }
	dir := fsutil.State{Kind: fsutil.Dir, Mode: 0o755}
	link := fsutil.State{Kind: fsutil.Symlink, Mode: 0o777, Target: "a"}
	for _, c := range []struct {
		name string
		a, b fsutil.State
		same bool
	}{
		{"nothing and nothing", fsutil.State{}, fsutil.State{}, true},
		{"nothing and a file", fsutil.State{}, file, false},
		{"a file of another time", file, with(file, later), true},
		{"another hash", file, with(file, func(s *fsutil.State) { s.Hash[31]++ }), false},
		{"another size", file, with(file, func(s *fsutil.State) { s.Size++ }), false},
		{"another mode of a file", file, with(file, func(s *fsutil.State) { s.Mode |= 0o100 }), false},
		{"another mode of a directory", dir, with(dir, func(s *fsutil.State) { s.Mode = 0o700 }), false},
		{"a directory of another size", dir, with(dir, func(s *fsutil.State) { s.Size = 9 }), true},
		{"another target", link, with(link, func(s *fsutil.State) { s.Target = "b" }), false},
		{"another mode of a link", link, with(link, func(s *fsutil.State) { s.Mode = 0o755 }), true},
		{"two pipes", fsutil.State{Kind: fsutil.Other}, fsutil.State{Kind: fsutil.Other, Mode: 0o600}, true},
	} {
		if c.a.SameContent(c.b) != c.same || c.b.SameContent(c.a) != c.same {
			t.Errorf("%s: SameContent is %t", c.name, !c.same)
		}
	}
}

func TestChange_content(t *testing.T) {
	t.Parallel()
	read := func(open fsutil.Opener) (string, error) {
		r, err := open()
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(r)
		return string(data), errors.Join(err, r.Close())
	}
	bare := fsutil.Change{Kind: fsutil.Created, Path: "f"}
	c := bare.WithContent(nil, fsutil.BytesOpener([]byte("new"))).WithMeta("other")
	for range 2 { // anew each time
		if got, err := read(c.OpenNew); got != "new" || err != nil {
			t.Errorf("OpenNew = %q, %v", got, err)
		}
	}
	if _, err := read(c.OpenOld); err == nil || err == io.EOF {
		t.Errorf("OpenOld of a file that was made: %v", err)
	}
	if _, err := read(bare.OpenNew); err == nil {
		t.Error("WithContent has changed what it was called on")
	}
	if c.MetaOf() != "other" || bare.MetaOf() != "" {
		t.Errorf("MetaOf = %q and %q", c.MetaOf(), bare.MetaOf())
	}
}

func TestProtect(t *testing.T) {
	t.Parallel()
	if err := fsutil.Protect(func() error { return errInjected }); err != errInjected {
		t.Errorf("an error came as %v", err)
	}
	if err := fsutil.Protect(func() error { return nil }); err != nil {
		t.Errorf("nil came as %v", err)
	}
	for _, value := range []any{"text", errInjected} {
		err := fsutil.Protect(func() error { panicWith(value); return nil })
		var p *fsutil.PanicError
		if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "panicWith") {
			t.Fatalf("panic(%v) came as %v", value, err)
		}
		if diff := cmp.Diff(value, p.Value, cmp.Comparer(func(a, b error) bool { return a == b })); diff != "" {
			t.Error(diff)
		}
		if errors.Is(err, errInjected) != (value == errInjected) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("panic(%v) matches what it should not, or not what it should", value)
		}
	}
}

func panicWith(value any) { panic(value) }
