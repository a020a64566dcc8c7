package planfile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/planfile"
)

func file(text string) change.State {
	return change.State{Kind: change.File, Mode: 0o644, Size: int64(len(text)), Hash: change.HashOf([]byte(text))}
}

// edit is a change of "x\n" to "yy\n".
func edit() planfile.Change {
	return planfile.Change{Change: change.Change{
		Kind: change.Modified, Path: "a.txt", Old: file("x\n"), New: file("yy\n"), Splices: []change.Splice{{Off: 0, Len: 1, Text: []byte("yy")}},
	}}
}

// A plan from outside is accepted if a run could have planned it, and otherwise refused with the reason.
func TestAdopt(t *testing.T) {
	t.Parallel()
	link := change.State{Kind: change.Symlink, Mode: 0o777, Target: "../../etc/passwd"}
	for _, test := range []struct {
		name   string
		change func(c *planfile.Change)
		want   string // in the error; "" for none
	}{
		{"as planned", func(*planfile.Change) {}, ""},
		{"only the mode", func(c *planfile.Change) { c.Splices, c.New = nil, c.Old; c.New.Mode = 0o600 }, ""},
		{"a new size that is too large", func(c *planfile.Change) { c.New.Size++ }, "the new size is 4 bytes, but the change makes 3 of the old 2"},
		{"a new size of nothing", func(c *planfile.Change) { c.New.Size = 0 }, "the new size is 0 bytes"},
		{"a mode that changes the size", func(c *planfile.Change) { c.Splices, c.New = nil, c.Old; c.New.Size = 7 }, "makes 2 of the old 2"},
		{"splices beyond the end", func(c *planfile.Change) { c.Splices[0].Off = 9 }, "splice"},
		{"content of another size", func(c *planfile.Change) { c.Splices, c.Content, c.New.Size = nil, []byte("yy\n"), 2 }, "not what its hash says"},
		{"content that is written", func(c *planfile.Change) { c.Splices, c.Content = nil, []byte("yy\n") }, ""},
		{"content that is not written", func(c *planfile.Change) { c.Content = []byte("yy\n") }, "content that the change does not write"},
		{"made where something is", func(c *planfile.Change) { c.Kind = change.Created }, "do not fit together"},
		{"setuid", func(c *planfile.Change) { c.New.Mode |= 1 << 23 }, "setuid"},
		{"no hash", func(c *planfile.Change) { c.New.Hash = change.Hash{} }, "hash of a file is missing"},
		{"a link out of the tree", func(c *planfile.Change) { c.Splices, c.New = nil, link }, "symbolic link a.txt to"},
		{"out of the tree", func(c *planfile.Change) { c.Path = "../a.txt" }, "../a.txt"},
		{"denied", func(c *planfile.Change) { c.Path = "secret" }, "secret"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewMemMapFs()
			if err := afero.WriteFile(fsys, "a.txt", []byte("x\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			c := edit()
			test.change(&c)
			tree := planfile.Tree{FS: fsys, Guard: guard.Policy{Denied: []string{"secret"}}, Limits: actions.Limits{}}
			_, _, err := tree.Adopt(t.Context(), planfile.Changes{c})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
}

// Changes that are valid on their own can contradict each other.
func TestAdoptTogether(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	renamed := func(to string) planfile.Change {
		return planfile.Change{Change: change.Change{Kind: change.Renamed, Path: to, From: "a.txt", Old: file("x\n"), New: file("x\n")}}
	}
	gone := planfile.Change{Change: change.Change{Kind: change.Deleted, Path: "a.txt", Old: file("x\n")}}
	for want, changes := range map[string]planfile.Changes{
		"two renames take the same file":          {renamed("b"), renamed("c")},
		"cannot be made or deleted as well":       {gone, renamed("b")},
		"only a rename has a place it comes from": {{Change: change.Change{Kind: change.Deleted, Path: "b", From: "a", Old: file("x")}}},
	} {
		if _, _, err := (planfile.Tree{FS: fsys}).Adopt(t.Context(), changes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q", err, want)
		}
	}
}

// A digest changes with everything that changes the commit, and with nothing else.
func TestDigest(t *testing.T) {
	t.Parallel()
	sum := func(noBackup bool, change func(c *planfile.Change)) string {
		c := edit()
		change(&c)
		digest, err := planfile.Digest(changesOf(c), noBackup)
		if err != nil || len(digest) != 64 {
			t.Errorf("%q, %v", digest, err)
		}
		return digest
	}
	same := sum(false, func(*planfile.Change) {})
	if other := sum(false, func(c *planfile.Change) { c.Splices = nil }); other != same {
		t.Error("the digest depends on how the bytes are made")
	}
	seen := map[string]bool{same: true}
	for i, digest := range []string{
		sum(true, func(*planfile.Change) {}), sum(false, func(c *planfile.Change) { c.Path = "b" }), sum(false, func(c *planfile.Change) { c.New.Mode = 0o600 }),
		sum(false, func(c *planfile.Change) { c.New.Hash[0]++ }), sum(false, func(c *planfile.Change) { c.Permanent = true }),
	} {
		if seen[digest] {
			t.Errorf("the digest of difference %d is not new", i)
		}
		seen[digest] = true
	}
}

// TestDigest_trash: without a backup, the digest depends on whether a deleted file is kept.
func TestDigest_trash(t *testing.T) {
	t.Parallel()
	c := edit().Change
	kept := c
	kept.Trash = true
	for _, noBackup := range []bool{false, true} {
		a, errA := planfile.Digest([]change.Change{c}, noBackup)
		b, errB := planfile.Digest([]change.Change{kept}, noBackup)
		if errA != nil || errB != nil || (a == b) == noBackup {
			t.Errorf("%v: %s and %s, %v, %v", noBackup, a, b, errA, errB)
		}
	}
}

// TestStore_names: a name that JSON cannot hold is refused, wherever it is.
func TestStore_names(t *testing.T) {
	t.Parallel()
	link := change.State{Kind: change.Symlink, Target: "a\xff", Mode: 0o777}
	for name, c := range map[string]change.Change{
		"path": {Path: "a\xff"}, "from": {From: "a\xff"}, "old": {Old: link}, "new": {New: link}, "replaced": {Replaced: link},
	} {
		if _, err := planfile.Store([]change.Change{c}, actions.Limits{}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func changesOf(c planfile.Change) []change.Change { return []change.Change{c.Change} }

// Texts are checked for the form of plans, their limits, and the order of paths.
func TestDecode(t *testing.T) {
	t.Parallel()
	var v struct {
		Changes planfile.Changes `json:"changes"`
	}
	text, err := json.Marshal(map[string]any{"changes": []planfile.Change{edit()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := planfile.Decode(text, &v, planfile.Limits{MaxDepth: 9}, nil); err != nil || len(v.Changes) != 1 || v.Changes[0].New.Size != 3 {
		t.Errorf("%v, %+v", err, v.Changes)
	}
	for text, want := range map[string]string{
		`{"changes":[{"path":"b"},{"path":"a"}]}`: "not in path order",
		`{"changes":[{"path":"a"},{"path":"a"}]}`: "not in path order",
		`{"Changes":[]}`:                                 `unknown field "Changes"`,
		`{"changes":[{"path":"a","pth":"b"}]}`:           `unknown field "pth"`,
		`{"changes":[],"changes":[]}`:                    "appears twice",
		`{"changes":[{"splices":[[[]]]}]}`:               "nested more than 5 deep",
		`{"changes":[` + strings.Repeat(" ", 200) + `]}`: "too large",
	} {
		if err := planfile.Decode([]byte(text), &v, planfile.Limits{MaxBytes: 100, MaxDepth: 5}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: error = %v, want %q", text, err, want)
		}
	}
}
