package change_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
)

// Later versions read journals and plans, so the text is part of the contract.
func TestState_text(t *testing.T) {
	t.Parallel()
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of FIPS 180-2
	for text, want := range map[string]change.State{
		`{"kind":"absent"}`:                       {},
		`{"kind":"dir","mode":493}`:               {Kind: change.Dir, Mode: 0o755},
		`{"kind":"symlink","target":"../x"}`:      {Kind: change.Symlink, Target: "../x"},
		`{"kind":"other","id":{"dev":1,"ino":2}}`: {Kind: change.Other, ID: capability.Identity{Dev: 1, Ino: 2}},
		`{"kind":"file","mode":420,"size":3,"sha256":"` + abc + `","mtime":"2025-02-13T12:05:30Z"}`: {
			Kind: change.File, Mode: 0o644, Size: 3, Hash: change.HashOf([]byte("abc")),
			ModTime: time.Date(2025, 2, 13, 12, 5, 30, 0, time.UTC),
		},
	} {
		if got, err := json.Marshal(want); err != nil || string(got) != text {
			t.Errorf("Marshal = %s, %v, want %s", got, err, text)
		}
		var got change.State
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
		var s change.State
		if err := json.Unmarshal([]byte(text), &s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Unmarshal %s: %v, want an error with %q", text, err, want)
		}
	}
	h := change.HashOf(nil)
	if err := h.UnmarshalText(nil); err != nil || h != (change.Hash{}) || h.String() != "" {
		t.Errorf("no text gives %q, %v, want the zero Hash", h, err)
	}
}

func TestState_SameContent(t *testing.T) {
	t.Parallel()
	file := change.State{Kind: change.File, Mode: 0o644, Size: 1, Hash: change.HashOf([]byte("a"))}
	with := func(s change.State, change func(s *change.State)) change.State { change(&s); return s }
	later := func(s *change.State) { s.ModTime, s.ID.Ino = time.Unix(1, 0), 7 }
	dir := change.State{Kind: change.Dir, Mode: 0o755}
	link := change.State{Kind: change.Symlink, Mode: 0o777, Target: "a"}
	for _, c := range []struct {
		name string
		a, b change.State
		same bool
	}{
		{"nothing and nothing", change.State{}, change.State{}, true},
		{"nothing and a file", change.State{}, file, false},
		{"a file of another time", file, with(file, later), true},
		{"another hash", file, with(file, func(s *change.State) { s.Hash[31]++ }), false},
		{"another size", file, with(file, func(s *change.State) { s.Size++ }), false},
		{"another mode of a file", file, with(file, func(s *change.State) { s.Mode |= 0o100 }), false},
		{"another mode of a directory", dir, with(dir, func(s *change.State) { s.Mode = 0o700 }), false},
		{"a directory of another size", dir, with(dir, func(s *change.State) { s.Size = 9 }), true},
		{"another target", link, with(link, func(s *change.State) { s.Target = "b" }), false},
		{"another mode of a link", link, with(link, func(s *change.State) { s.Mode = 0o755 }), true},
		{"two pipes", change.State{Kind: change.Other}, change.State{Kind: change.Other, Mode: 0o600}, true},
	} {
		if c.a.SameContent(c.b) != c.same || c.b.SameContent(c.a) != c.same {
			t.Errorf("%s: SameContent is %t", c.name, !c.same)
		}
	}
}

func TestChange_content(t *testing.T) {
	t.Parallel()
	read := func(open backing.Opener) (string, error) {
		r, err := open()
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(r)
		return string(data), errors.Join(err, r.Close())
	}
	bare := change.Change{Kind: change.Created, Path: "f"}
	c := bare
	c.SetBytes(nil, backing.Bytes([]byte("new")))
	for range 2 { // again each time
		if got, err := read(c.OpenNew); got != "new" || err != nil {
			t.Errorf("OpenNew = %q, %v", got, err)
		}
	}
	if _, err := read(c.OpenOld); err == nil || err == io.EOF {
		t.Errorf("OpenOld of a file that was made: %v", err)
	}
	if _, err := read(bare.OpenNew); err == nil {
		t.Error("a change without a file on that side can be read")
	}
	if data, err := json.Marshal(c); err != nil || strings.Contains(string(data), "Bytes") {
		t.Errorf("JSON is %s, %v", data, err)
	}
}
