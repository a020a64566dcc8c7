package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/journal"
)

var key = []byte("some key of thirty-two bytes, ok")

func file(content string) change.State {
	return change.State{
		Kind: change.File, Mode: 0o644, Size: int64(len(content)), Hash: change.HashOf([]byte(content)),
		ModTime: time.Unix(1700000000, 123456789), ID: capability.Identity{Dev: 5, Ino: 77, Nlink: 1, UID: 1, GID: 2, CTime: 3},
	}
}

// sample returns a plan with a record of every kind.
func sample() *journal.Plan {
	dir := change.State{Kind: change.Dir, Mode: 0o755 | fs.ModeSetgid, ModTime: time.Unix(-62135596800-5, 7)}
	link := change.State{Kind: change.Symlink, Target: "a%41\xff", Mode: 0o777}
	records := []journal.Record{
		{Path: "a", Old: file("1"), New: file("2"), Image: journal.Linked},
		{Path: "b\xfe%", Old: file("b"), Image: journal.Copied, Trash: true},
		{Path: "c", From: "moved", Moved: true, New: file("m")},
		{Path: "d", New: dir},
		{Path: "d/e", New: link, FarDir: "."},
		{Path: "moved", Old: file("m"), Image: journal.Linked},
		{Path: "o", Old: file("o"), New: file("o"), Attr: true},
		{Path: "p", Old: file("p"), Image: journal.Copied, Permanent: true},
		{Path: "q", Old: link, New: file("q"), Trash: true},
	}
	for i := range records {
		records[i].Slot = len(records) - 1 - i
	}
	return &journal.Plan{Header: journal.Header{
		Version: journal.Version, ID: journal.NewID(time.Now()), Time: time.Unix(1800000000, 5), RunID: "run_1", Pipeline: "näme \xff",
		StateDir: ".millrace", Sync: true, Keep: true, Result: change.HashOf(nil), Dev: 5, Ino: 9, Can: []string{},
	}, Records: records}
}

func encode(t testing.TB, p *journal.Plan, key []byte) []byte {
	t.Helper()
	data, err := journal.Encode(p, key)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, key := range [][]byte{key, nil} {
		want := sample()
		got, err := journal.Decode(encode(t, want, key), key)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestDamage changes, removes and doubles every byte, and truncates the file everywhere.
func TestDamage(t *testing.T) {
	t.Parallel()
	data := encode(t, sample(), key)
	check := func(what string, i int, bad []byte) {
		t.Helper()
		_, err := journal.Decode(bad, key)
		if _, ok := errors.AsType[*journal.Error](err); !ok {
			t.Fatalf("%s at %d: error is %v", what, i, err)
		}
	}
	for i := range data {
		check("cut", i, data[:i])
		check("removed", i, append(bytes.Clone(data[:i]), data[i+1:]...))
		check("doubled", i, append(bytes.Clone(data[:i+1]), data[i:]...))
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(data)
			bad[i] ^= bit
			check("changed", i, bad)
		}
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i := range lines[:len(lines)-1] {
		check("line removed", i, bytes.Join(append(lines[:i:i], lines[i+1:]...), nil))
	}
	check("more", len(data), append(bytes.Clone(data), data...))
}

func TestReasons(t *testing.T) {
	t.Parallel()
	signed, unsigned := encode(t, sample(), key), encode(t, sample(), nil)
	line := bytes.Clone(signed)
	line[bytes.IndexByte(line, '\n')+200] ^= 1
	tests := []struct {
		name string
		data []byte
		key  []byte
		want journal.Reason
	}{
		{"newer", bytes.Replace(signed, []byte("plan 1"), []byte("plan 2"), 1), key, journal.BadVersion},
		{"no plan", []byte("hello\n"), key, journal.BadChecksum},
		{"empty", nil, key, journal.BadChecksum},
		{"damaged line", line, key, journal.BadChecksum},
		{"other key", signed, []byte("x"), journal.BadKey},
		{"signed, but no key", signed, nil, journal.BadKey},
		{"unsigned, but a key", unsigned, key, journal.BadKey},
	}
	for _, tt := range tests {
		_, err := journal.Decode(tt.data, tt.key)
		if !errors.Is(err, &journal.Error{Reason: tt.want}) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestValidate makes one mistake at a time.
func TestValidate(t *testing.T) {
	t.Parallel()
	paths := []string{"../x", "/etc/passwd", "a//b", "./a", "a/", ".", "", "a/../b", "a\x00b", ".git/hooks/x", "x/.GIT/y", "git~1/x",
		".millrace/lock", ".MILLRACE/x", ".millrace./x", ".hg/x", strings.Repeat("n", 256)}
	for _, bad := range paths {
		p := sample()
		p.Records = p.Records[:1]
		p.Records[0].Slot, p.Records[0].Path = 0, bad
		if err := p.Validate(); !errors.Is(err, &journal.Error{Reason: journal.BadPath}) {
			t.Errorf("path %q: %v", bad, err)
		}
	}
	tests := map[string]func(p *journal.Plan){
		"id":                  func(p *journal.Plan) { p.ID = "../x" },
		"run id":              func(p *journal.Plan) { p.RunID = "../x" },
		"state directory":     func(p *journal.Plan) { p.StateDir = "../x" },
		"top as state":        func(p *journal.Plan) { p.StateDir = "." },
		"twice":               func(p *journal.Plan) { p.Records[1].Path = p.Records[0].Path },
		"order":               func(p *journal.Plan) { p.Records[0].Path = "z" },
		"slot twice":          func(p *journal.Plan) { p.Records[0].Slot = p.Records[1].Slot },
		"slot out of range":   func(p *journal.Plan) { p.Records[0].Slot = len(p.Records) },
		"slot negative":       func(p *journal.Plan) { p.Records[0].Slot = -1 },
		"nothing":             func(p *journal.Plan) { p.Records[0].Old, p.Records[0].New = change.State{}, change.State{} },
		"mode bits":           func(p *journal.Plan) { p.Records[0].New.Mode |= fs.ModeDevice },
		"size":                func(p *journal.Plan) { p.Records[0].New.Size = -1 },
		"no hash":             func(p *journal.Plan) { p.Records[0].New.Hash = change.Hash{} },
		"device":              func(p *journal.Plan) { p.Records[0].New.Kind = change.Other },
		"absent with content": func(p *journal.Plan) { p.Records[0].New.Kind = change.Absent },
		"link nowhere":        func(p *journal.Plan) { p.Records[4].New.Target = "" },
		"directory with hash": func(p *journal.Plan) { p.Records[3].New.Hash = change.HashOf(nil) },
		"below a file": func(p *journal.Plan) {
			p.Records[3].New = file("d")
		},
		"was below a file": func(p *journal.Plan) {
			p.Records[3].Old, p.Records[3].Image = file("d"), journal.Copied
			p.Records[4].Old, p.Records[4].Image = file("e"), journal.Copied
		},
		"below what goes":    func(p *journal.Plan) { p.Records[3].Old, p.Records[3].New = p.Records[3].New, change.State{} },
		"image":              func(p *journal.Plan) { p.Records[0].Image = "x" },
		"no image":           func(p *journal.Plan) { p.Records[0].Image = journal.NoImage },
		"image of directory": func(p *journal.Plan) { p.Records[3].Image = journal.Linked },
		"moved from nowhere": func(p *journal.Plan) { p.Records[2].From = "nowhere" },
		"moved from itself":  func(p *journal.Plan) { p.Records[2].From = "c" },
		"moved is another":   func(p *journal.Plan) { p.Records[2].New = file("other") },
		"attributes of two":  func(p *journal.Plan) { p.Records[6].New = file("O") },
		"far is elsewhere":   func(p *journal.Plan) { p.Records[4].FarDir = "other" },
		"far in itself":      func(p *journal.Plan) { p.Records[4].FarDir = "d/e" },
		"trash of nothing":   func(p *journal.Plan) { p.Records[2].Trash = true },
		"trash that stays":   func(p *journal.Plan) { p.Records[6].Trash = true },
		"trash for good":     func(p *journal.Plan) { p.Records[1].Permanent = true },
	}
	if err := sample().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, harm := range tests {
		p := sample()
		harm(p)
		err := p.Validate()
		if e, ok := errors.AsType[*journal.Error](err); !ok || e.Reason != journal.BadRecord {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := journal.Encode(p, key); err == nil {
			t.Errorf("%s: was encoded", name)
		}
	}
}

func TestCheckPlace(t *testing.T) {
	t.Parallel()
	here := capability.Identity{Dev: 5, Ino: 9}
	tests := []struct {
		name, id, dir string
		identity      capability.Identity
		signed, ok    bool
	}{
		{"here", "", ".millrace", here, true, true},
		{"unsigned", "", ".millrace", here, false, true},
		{"other id", "20200101_000000_0123456789abcdef", ".millrace", here, true, false},
		{"other state directory", "", "x", here, true, false},
		{"copied", "", ".millrace", capability.Identity{Dev: 5, Ino: 10}, true, false},
		{"no identity", "", ".millrace", capability.Identity{}, true, false},
		{"other device", "", ".millrace", capability.Identity{Dev: 6, Ino: 9}, true, true},
		{"other device, unsigned", "", ".millrace", capability.Identity{Dev: 6, Ino: 9}, false, false},
	}
	for _, tt := range tests {
		p := sample()
		if tt.id == "" {
			tt.id = p.ID
		}
		err := p.CheckPlace(tt.id, tt.dir, tt.identity, tt.signed)
		if (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), string(journal.BadIdentity)) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.ok && (p.Records[0].Old.ID.Dev != tt.identity.Dev || p.Dev != tt.identity.Dev) {
			t.Errorf("%s: device is still %d", tt.name, p.Records[0].Old.ID.Dev)
		}
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^20250213_110530_[0-9a-f]{16}$`)
	at := time.Date(2025, 2, 13, 12, 5, 30, 999, time.FixedZone("", 3600))
	one, two := journal.NewID(at), journal.NewID(at)
	if !form.MatchString(one) || one == two || !journal.ValidID(one) {
		t.Errorf("%q, %q", one, two)
	}
	for _, bad := range []string{"", "20250213_120530_", "20250213_120530_abc", "20250213_120530_ABCDEF123456", "x/20250213_120530_abc123def"} {
		if journal.ValidID(bad) {
			t.Errorf("%q is valid", bad)
		}
	}
	if !journal.ValidID("20250213_120530_abc123def") {
		t.Error("the short form is not valid")
	}
}

func TestSlot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		shards := make(map[string]bool)
		for _, s := range journal.Shards(n) {
			shards[s] = true
		}
		seen := make(map[string]bool)
		for i := range n {
			s := journal.Slot(i)
			dir, _, _ := strings.Cut(s, "/")
			if seen[s] || !shards[dir] {
				t.Fatalf("slot %d of %d: %s", i, n, s)
			}
			seen[s] = true
		}
	})
}

// TestText round-trips names of any bytes.
func TestText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		target := string(rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "target"))
		p := sample()
		p.Records = []journal.Record{{Path: "l", New: change.State{Kind: change.Symlink, Target: target}}}
		data, err := journal.Encode(p, key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := journal.Decode(data, key)
		if err != nil || got.Records[0].New.Target != target {
			t.Fatalf("%q, %v", got.Records[0].New.Target, err)
		}
	})
}
