//go:build linux

package stage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

type lists = map[int][][]any

// Parts of forged items. Entries that are made have no stamps.
const (
	isFile, isDir, isLink = int(change.File), int(change.Dir), int(change.Symlink)
	timeOfFact, stageTime = 1, 2
)

func madeDir() []any { return []any{0, isDir, "", 0o755, stageTime, 0, 0, 0, 0, 0} }
func madeFile(body int) []any {
	return []any{0, isFile, "", 0o644, stageTime, body, 0, 0, 0, 0}
}

// put is a slot of a directory, with a node or none, over a fact or none: both are given as their number plus one, 0
// for none.
func put(dir int, name string, node, under int) []any { return []any{dir, name, node, under, 1, 0, 0} }

// factFor is a fact about the entry with a name.
func (k *keptStage) factFor(name string) []any {
	info, err := os.Lstat(filepath.Join(k.dir, name))
	k.must(err)
	kind := isFile
	switch {
	case info.IsDir():
		kind = isDir
	case info.Mode().Type() != 0:
		kind = isLink
	}
	return k.factAs(name, name, kind)
}

// factAs is a fact about one path, with the entry of another.
func (k *keptStage) factAs(name, as string, kind int) []any {
	info, err := os.Stat(filepath.Join(k.dir, as))
	k.must(err)
	id, _ := k.root.IdentityOf(info)
	item := []any{kind | 8, name, int(info.Mode().Perm()), info.ModTime()}
	switch kind {
	case isFile:
		item = append(item, int(info.Size()))
	case isLink:
		target, err := os.Readlink(filepath.Join(k.dir, name))
		k.must(err)
		item = append(item, target)
	}
	return append(item, id.Dev, id.Ino, uint64(id.CTime))
}

// TestRestore_forged restores stages from deltas that no Keeper made.
func TestRestore_forged(t *testing.T) {
	t.Parallel()
	k := newKept(t, "a=text", "d/f=text", ".git/config=text", "secret/key=text", "dir/secret/key=text",
		"repo/.git/config=text",
		"state/x=text", "ro/f=text")
	k.must(os.Symlink("secret", filepath.Join(k.dir, "link")))
	k.policy = guard.Policy{Reserved: "state", Denied: []string{"**/secret", "secret"}, ReadOnly: []string{"ro"}}
	k.spill.data = []byte("bytes put aside")
	hash, text := make([]byte, 32), []byte("\x02x") // one byte
	splices := []any{1, 0, 0, 0, 1, 0, 1, text, 1}  // over fact 0: one byte replaced with another
	tests := map[string]struct {
		lists lists
		want  error
	}{
		"a new file":   {lists{stage.PartFacts: {k.factFor("a")}, stage.PartBodies: {splices}, stage.PartNodes: {madeFile(1)}, stage.PartSlots: {put(0, "new", 2, 0)}}, nil},
		"an edit":      {lists{stage.PartFacts: {k.factFor("a")}, stage.PartBodies: {splices}, stage.PartNodes: {{1}}, stage.PartLinks: {{0, "a", 1}}, stage.PartMetas: {{1, 0o644, stageTime, 1, 0, 0, 0, 0}}}, nil},
		"a removal":    {lists{stage.PartFacts: {k.factFor("a")}, stage.PartSlots: {put(0, "a", 0, 1)}}, nil},
		"a new tree":   {lists{stage.PartNodes: {madeDir(), madeDir()}, stage.PartSlots: {put(1, "in", 3, 0), put(0, "out", 2, 0)}}, nil},
		"nothing else": {lists{}, nil},

		"a directory in itself":             {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(1, "x", 2, 0)}}, stage.ErrDelta},
		"a directory in itself, seen":       {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(1, "x", 2, 0), put(0, "y", 2, 0)}}, stage.ErrDelta},
		"two directories in each other":     {lists{stage.PartNodes: {madeDir(), madeDir()}, stage.PartSlots: {put(1, "x", 3, 0), put(2, "x", 2, 0)}}, stage.ErrDelta},
		"one node at two places":            {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, "x", 2, 0), put(0, "y", 2, 0)}}, stage.ErrDelta},
		"a node of the base at two places":  {lists{stage.PartFacts: {k.factFor("a")}, stage.PartNodes: {{1}}, stage.PartLinks: {{0, "a", 1}}, stage.PartSlots: {put(0, "y", 2, 0)}}, stage.ErrDelta},
		"the root in the tree":              {lists{stage.PartSlots: {put(0, "x", 1, 0)}}, stage.ErrDelta},
		"the root changed":                  {lists{stage.PartMetas: {{0, 0o755, stageTime, 0, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a file as a directory":             {lists{stage.PartFacts: {k.factFor("a")}, stage.PartNodes: {{1}}, stage.PartLinks: {{0, "a", 1}}, stage.PartSlots: {put(1, "x", 0, 0)}}, stage.ErrDelta},
		"a fact twice":                      {lists{stage.PartFacts: {k.factFor("a"), k.factFor("a")}}, stage.ErrDelta},
		"a fact with two nodes":             {lists{stage.PartFacts: {k.factFor("a")}, stage.PartNodes: {{1}, {1}}}, stage.ErrDelta},
		"a fact about the root":             {lists{stage.PartFacts: {k.factAs(".", ".", isDir)}}, stage.ErrDelta},
		"a fact outside":                    {lists{stage.PartFacts: {k.factAs("../x", "a", isFile)}}, stage.ErrDelta},
		"a fact with an unclean path":       {lists{stage.PartFacts: {k.factAs("d/../a", "a", isFile)}}, stage.ErrDelta},
		"a fact about nothing":              {lists{stage.PartFacts: {k.factAs("a", "a", 0)}}, stage.ErrDelta},
		"a link to where it is not":         {lists{stage.PartFacts: {k.factFor("a")}, stage.PartNodes: {{1}}, stage.PartLinks: {{0, "b", 1}}}, stage.ErrDelta},
		"a link of a new directory":         {lists{stage.PartNodes: {madeDir()}, stage.PartLinks: {{0, "b", 1}}}, stage.ErrDelta},
		"a link over something":             {lists{stage.PartFacts: {k.factFor("a")}, stage.PartNodes: {{1}}, stage.PartLinks: {{0, "a", 1}, {0, "a", 1}}}, stage.ErrDelta},
		"a name that leads out":             {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, "..", 2, 0)}}, stage.ErrDelta},
		"a name with a slash":               {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, "d/x", 2, 0)}}, stage.ErrDelta},
		"a name with a zero":                {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, "d\x00", 2, 0)}}, stage.ErrDelta},
		"no name":                           {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, "", 2, 0)}}, stage.ErrDelta},
		"a name that is too long":           {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, strings.Repeat("x", 256), 2, 0)}}, stage.ErrDelta},
		"a node that is not there":          {lists{stage.PartSlots: {put(0, "x", 7, 0)}}, stage.ErrDelta},
		"a directory that is not there":     {lists{stage.PartSlots: {put(7, "x", 0, 0)}}, stage.ErrDelta},
		"a node of no fact":                 {lists{stage.PartNodes: {{7}}}, stage.ErrDelta},
		"a node of no kind":                 {lists{stage.PartNodes: {{0, 0, "", 0o755, stageTime, 0, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a link node without a target":      {lists{stage.PartNodes: {{0, isLink, "", 0o755, stageTime, 0, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a link node with a zero":           {lists{stage.PartNodes: {{0, isLink, "a\x00b", 0o755, stageTime, 0, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a made node with a fact's time":    {lists{stage.PartNodes: {{0, isDir, "", 0o755, timeOfFact, 0, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a node without a time":             {lists{stage.PartNodes: {{0, isDir, "", 0o755, 3, 0, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a mode with type bits":             {lists{stage.PartNodes: {{0, isDir, "", uint64(1 << 40), stageTime, 0, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a file without a content":          {lists{stage.PartNodes: {madeFile(0)}}, stage.ErrDelta},
		"a file with a content not there":   {lists{stage.PartNodes: {madeFile(9)}}, stage.ErrDelta},
		"a directory with a content":        {lists{stage.PartBodies: {{0, 0}}, stage.PartNodes: {{0, isDir, "", 0o755, stageTime, 1, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a meta of no node":                 {lists{stage.PartMetas: {{5, 0o755, stageTime, 0, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a stamp of no step":                {lists{stage.PartNodes: {{0, isDir, "", 0o755, stageTime, 0, 0, 1, 5, 0, 0, 0, 0}}}, stage.ErrDelta},
		"stamps that are not the same":      {lists{stage.PartNodes: {{0, isDir, "", 0o755, stageTime, 0, 3, 0, 0, 0}}}, stage.ErrDelta},
		"a stamp before the beginning":      {lists{stage.PartSteps: {{"x"}}, stage.PartNodes: {{0, isDir, "", 0o755, stageTime, 0, 0, 1, 0, 0, 1 << 20, 0, 0}}}, stage.ErrDelta},
		"a slot before the beginning":       {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {{0, "x", 2, 0, 1 << 20, 0, 0}}}, stage.ErrDelta},
		"a removal by no step":              {lists{stage.PartFacts: {k.factFor("a")}, stage.PartSlots: {{0, "a", 0, 1, 1, 1, 1, 5, 0, 1}}}, stage.ErrDelta},
		"a removal over no fact":            {lists{stage.PartSlots: {put(0, "a", 0, 5)}}, stage.ErrDelta},
		"a removal over another fact":       {lists{stage.PartFacts: {k.factFor("a"), k.factFor("d")}, stage.PartSlots: {put(0, "a", 0, 2)}}, stage.ErrDelta},
		"a removal of the base in no base":  {lists{stage.PartFacts: {k.factFor("a")}, stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, "n", 2, 0), put(1, "a", 0, 1)}}, stage.ErrDelta},
		"a removal without a base":          {lists{stage.PartSlots: {put(0, "a", 0, 0)}}, names.ErrDrift},
		"a removal below no removal":        {lists{stage.PartSlots: {{0, "new", 0, 0, 1, 4, 0, 1, "new/f", 1, 0}}}, stage.ErrDelta},
		"a removal that is not below":       {lists{stage.PartFacts: {k.factFor("d")}, stage.PartSlots: {{0, "d", 0, 1, 1, 5, 0, 1, "a", 1, 0}}}, stage.ErrDelta},
		"no removal below":                  {lists{stage.PartFacts: {k.factFor("d")}, stage.PartSlots: {{0, "d", 0, 1, 1, 5, 0, 1, "d/f", 0, 0}}}, stage.ErrDelta},
		"a step twice":                      {lists{stage.PartSteps: {{"x"}, {"x"}}}, stage.ErrDelta},
		"a content of no fact":              {lists{stage.PartBodies: {{5, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a content of a directory":          {lists{stage.PartFacts: {k.factFor("d")}, stage.PartBodies: {{1, 0, 0, 0, 0}}}, stage.ErrDelta},
		"a content like a missing one":      {lists{stage.PartFacts: {k.factFor("a")}, stage.PartBodies: {{1, 7, 0, 0, 0}}}, stage.ErrDelta},
		"a content like another file's":     {lists{stage.PartFacts: {k.factFor("a"), k.factFor("d/f")}, stage.PartBodies: {{1, 0, 0, 0, 0}, {2, 1, 0, 0, 0}}}, stage.ErrDelta},
		"more edits than the other has":     {lists{stage.PartFacts: {k.factFor("a")}, stage.PartBodies: {{1, 0, 0, 0, 0}, {1, 1, 1, 0, 0}}}, stage.ErrDelta},
		"an edit after the end":             {lists{stage.PartFacts: {k.factFor("a")}, stage.PartBodies: {{1, 0, 0, 0, 1, 4, 1, text, 1}}}, stage.ErrDelta},
		"edits that overlap":                {lists{stage.PartFacts: {k.factFor("a")}, stage.PartBodies: {{1, 0, 0, 0, 2, 0, 2, text, 1, 1, 2, text, 0}}}, stage.ErrDelta},
		"an edit by no step":                {lists{stage.PartFacts: {k.factFor("a")}, stage.PartBodies: {{1, 0, 0, 0, 1, 0, 1, text, 2, 5, 0}}}, stage.ErrDelta},
		"a file of a terabyte":              {lists{stage.PartBodies: {{0, uint64(1 << 40)}}}, stage.ErrDelta},
		"a file of more":                    {lists{stage.PartBodies: {{0, uint64(1 << 41)}}}, stage.ErrDelta},
		"a page that is not there":          {lists{stage.PartBodies: {{0, 1, 1}}}, stage.ErrDelta},
		"a page after the end of the spill": {lists{stage.PartPages: {{1 << 30, 10, hash}}}, stage.ErrDelta},
		"a page with other bytes":           {lists{stage.PartPages: {{0, 5, hash}}}, stage.ErrDelta},
		"a page of nothing":                 {lists{stage.PartPages: {{0, 0, hash}}}, stage.ErrDelta},
		"a page that is too large":          {lists{stage.PartPages: {{0, 1 << 20, hash}}}, stage.ErrDelta},
		"the hash of no file":               {lists{stage.PartSums: {{0, hash}}}, stage.ErrDelta},
		"the hash of a directory":           {lists{stage.PartFacts: {k.factFor("d")}, stage.PartSums: {{0, hash}}}, stage.ErrDelta},
		"the entries of a file":             {lists{stage.PartFacts: {k.factFor("a")}, stage.PartTaken: {{0, hash}}}, stage.ErrDelta},
		"a hidden name outside":             {lists{stage.PartHides: {{"../x"}}}, stage.ErrDelta},
		"a hidden name in no directory":     {lists{stage.PartHides: {{"link/x"}}}, stage.ErrDelta},
		"a hidden name that is listed":      {lists{stage.PartHides: {{"a"}}}, names.ErrDrift},
		"a hidden name of the state":        {lists{stage.PartHides: {{"state/x"}}}, names.ErrReserved},
		"nested too deeply":                 {lists{stage.PartNodes: slices.Repeat([][]any{madeDir()}, 3000), stage.PartSlots: nested(3000)}, stage.ErrDelta},
		"more changes than there were ever": {lists{stage.PartSlots: slices.Repeat([][]any{put(0, "x", 0, 0)}, 20_000)}, stage.ErrDelta},

		"a new file in version control": {lists{stage.PartFacts: {k.factFor(".git")}, stage.PartNodes: {{1}, madeDir()}, stage.PartLinks: {{0, ".git", 1}}, stage.PartSlots: {put(1, "hooks", 3, 0)}}, names.ErrProtected},
		"version control removed":       {lists{stage.PartFacts: {k.factFor(".git")}, stage.PartSlots: {put(0, ".git", 0, 1)}}, names.ErrProtected},
		"a new .git":                    {lists{stage.PartNodes: {madeDir(), madeDir()}, stage.PartSlots: {put(1, ".git", 3, 0), put(0, "x", 2, 0)}}, names.ErrProtected},
		"a tree with it removed":        {lists{stage.PartFacts: {k.factFor("repo")}, stage.PartSlots: {put(0, "repo", 0, 1)}}, names.ErrProtected},
		"a tree with it moved":          {lists{stage.PartFacts: {k.factFor("repo")}, stage.PartNodes: {{1}}, stage.PartSlots: {put(0, "x", 2, 0), put(0, "repo", 0, 1)}}, names.ErrProtected},
		"a tree with a denied path":     {lists{stage.PartFacts: {k.factFor("dir")}, stage.PartSlots: {put(0, "dir", 0, 1)}}, names.ErrDenied},
		"a denied path, read":           {lists{stage.PartFacts: {k.factFor("secret/key")}}, names.ErrDenied},
		"a denied path, by a link":      {lists{stage.PartFacts: {k.factAs("link/key", "secret/key", isFile)}}, names.ErrDrift},
		"a denied path, made":           {lists{stage.PartNodes: {madeDir(), madeDir()}, stage.PartSlots: {put(0, "x", 2, 0), put(1, "secret", 3, 0)}}, names.ErrDenied},
		"a read-only path, edited":      {lists{stage.PartFacts: {k.factFor("ro"), k.factFor("ro/f")}, stage.PartBodies: {{2, 0, 0, 0, 0}}, stage.PartNodes: {{1}, {2}}, stage.PartLinks: {{0, "ro", 1}, {1, "f", 2}}, stage.PartMetas: {{2, 0o600, stageTime, 1, 0, 0, 0, 0}}}, names.ErrReadOnlyPath},
		"a read-only path, removed":     {lists{stage.PartFacts: {k.factFor("ro")}, stage.PartSlots: {put(0, "ro", 0, 1)}}, names.ErrReadOnlyPath},
		"a read-only path, moved away":  {lists{stage.PartFacts: {k.factFor("ro"), k.factFor("ro/f")}, stage.PartNodes: {{1}, {2}}, stage.PartLinks: {{0, "ro", 1}}, stage.PartSlots: {put(0, "x", 3, 0)}}, names.ErrReadOnlyPath},
		"the state directory":           {lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, "state", 2, 0)}}, names.ErrReserved},
		"a nested state directory":      {lists{stage.PartNodes: {madeDir(), madeDir()}, stage.PartSlots: {put(0, "x", 2, 0), put(1, ".millrace", 3, 0)}}, names.ErrReserved},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := k.open()
			_, err := stage.Restore(t.Context(), s, [][]byte{stage.Forge(0, nil, 10_000, tt.lists)})
			if !errors.Is(err, tt.want) {
				t.Fatalf("error is %v, want %v", err, tt.want)
			}
			if err == nil {
				changes, err := s.Changes()
				if err != nil || len(changes) == 0 && len(tt.lists) > 0 {
					t.Errorf("changes: %v, %v", changes, err)
				}
			}
		})
	}
}

// nested nests n directories.
func nested(n int) [][]any {
	all := make([][]any, n)
	for i := range all {
		all[i] = put(i, "x", i+2, 0)
	}
	return all
}

// TestRestore_later: the content of a directory without a place is checked against the guard when the directory gets
// one.
func TestRestore_later(t *testing.T) {
	t.Parallel()
	k := newKept(t, "a=1")
	first := stage.Forge(0, nil, 100, lists{stage.PartNodes: {madeDir(), madeDir()},
		stage.PartSlots: {put(1, ".git", 3, 0)}})
	second := stage.Forge(1, first, 200, lists{stage.PartSlots: {put(0, "x", 2, 0)}})
	k.deltas = [][]byte{first, second}
	if _, _, err := k.restored(); !errors.Is(err, names.ErrProtected) {
		t.Errorf("error is %v", err)
	}
}

// TestRestore_allowed: nothing outside the allowed paths is changed, except directories that lead to them.
func TestRestore_allowed(t *testing.T) {
	t.Parallel()
	k := newKept(t, "other/f=1")
	k.policy = guard.Policy{Allowed: []string{"x/y"}}
	k.Stage = k.open()
	k.keeper = stage.NewKeeper(k.Stage)
	k.must(k.MkdirAll("x/y/z", 0o755))
	k.keep()
	k.resume()
	for name, forged := range map[string]lists{
		"outside":                 {stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, "z", 2, 0)}},
		"a file for a directory":  {stage.PartBodies: {{0, 0}}, stage.PartNodes: {madeFile(1)}, stage.PartSlots: {put(0, "x", 2, 0)}},
		"a fact of another place": {stage.PartFacts: {k.factFor("other/f")}},
	} {
		k.deltas = [][]byte{stage.Forge(0, nil, 100, forged)}
		if _, _, err := k.restored(); !errors.Is(err, names.ErrNotAllowed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRestore_chain: only consecutive deltas make a stage, and only an unused stage accepts them.
func TestRestore_chain(t *testing.T) {
	t.Parallel()
	k := newKept(t, "a=1")
	for _, name := range []string{"x", "y", "z"} {
		k.must(k.Mkdir(name, 0o755))
		k.keep()
	}
	one, two, three := k.deltas[0], k.deltas[1], k.deltas[2]
	for name, deltas := range map[string][][]byte{
		"twice": {one, one}, "not from the first": {two, three}, "one left out": {one, three}, "not in order": {one, three, two},
		"another delta before": {stage.Forge(0, nil, 1, nil), two},
		"another version":      {append([]byte{2}, one[1:]...)}, "nothing": {nil}, "more behind it": {append(slices.Clone(one), 0)},
	} {
		k.deltas = deltas
		if _, _, err := k.restored(); !errors.Is(err, stage.ErrDelta) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k.deltas = [][]byte{one, two, three}
	used := k.open()
	k.must(used.Mkdir("used", 0o755))
	if _, err := stage.Restore(t.Context(), used, k.deltas); err == nil {
		t.Error("a stage in use was overwritten")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := stage.Restore(canceled, k.open(), k.deltas); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// rich has deltas with all kinds of items.
func rich(t *testing.T) *keptStage {
	k := driftTree(t)
	k.must(k.Chtimes("edited", time.Time{}, time.Unix(1, 0)))
	k.must(k.Discard("here/in/f"))
	k.must(k.SymlinkIfPossible("a", "newlink"))
	k.must(k.Copy("edited", "copy"))
	k.keep()
	return k
}

// TestRestore_damaged truncates deltas at every byte, and changes every byte: the result is either an error or a stage.
func TestRestore_damaged(t *testing.T) {
	t.Parallel()
	k := rich(t)
	whole := k.deltas
	step := fstest.Slowed(5, 1)
	for i, data := range whole {
		for cut := 0; cut < len(data); cut += step {
			k.deltas = slices.Concat(whole[:i], [][]byte{data[:cut]})
			if _, _, err := k.restored(); !errors.Is(err, stage.ErrDelta) {
				t.Fatalf("delta %d cut after %d of %d bytes: %v", i, cut, len(data), err)
			}
		}
	}
	for i, data := range whole {
		for at := 0; at < len(data); at += step {
			for _, bits := range []byte{1, 0x7f, 0x80, 0xff}[:fstest.Runs(1, 2, 4)] {
				broken := slices.Clone(data)
				broken[at] ^= bits
				k.deltas = slices.Concat(whole[:i], [][]byte{broken})
				if s, _, err := k.restored(); err == nil {
					_, _ = s.Changes() // this may fail, but must end
				}
			}
		}
	}
}

// FuzzRestore restores stages over a tree in memory that is the same in each process, so that deltas with facts match
// it.
func FuzzRestore(f *testing.F) {
	const aside = "bytes that were put aside"
	base := afero.NewMemMapFs()
	at := time.Unix(1_700_000_000, 0)
	for _, name := range []string{"a", "d/f", "d/in/g"} {
		fstest.Must(f, afero.WriteFile(base, name, []byte("the text"), 0o644))
	}
	for _, name := range []string{"a", "d/f", "d/in/g", "d/in", "d", "."} {
		fstest.Must(f, base.Chtimes(name, at, at))
	}
	open := func() *stage.Stage {
		s := stage.New(base)
		s.SetSpill(&memSpill{data: []byte(aside)})
		s.SetGuard(guard.Policy{Reserved: ".millrace"})
		return s
	}
	s := open()
	k := stage.NewKeeper(s)
	var deltas [][]byte
	for _, do := range []func() error{
		func() error { return s.Edit("a", []change.Splice{{Len: 3, Text: []byte("some")}}) },
		func() error { return errors.Join(s.Rename("d/in", "moved"), s.Discard("d/f"), s.Copy("a", "d/copy")) },
		func() error {
			return errors.Join(s.Mkdir("new", 0o755), afero.WriteFile(s, "new/f", []byte(aside), 0o600))
		},
		func() error { return errors.Join(s.RemoveAll("d"), s.Chtimes("moved/g", at, at.Add(time.Hour))) },
	} {
		fstest.Must(f, do())
		data, _, err := k.Delta()
		fstest.Must(f, err)
		deltas = append(deltas, data)
	}
	f.Add(deltas[0], deltas[1])
	all, _, err := stage.NewKeeper(s).Delta()
	fstest.Must(f, err)
	f.Add(all, []byte{})
	f.Add(stage.Forge(0, nil, 100, lists{stage.PartNodes: {madeDir()}, stage.PartSlots: {put(0, "x", 2, 0)}}), []byte{})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s := open()
		defer s.Close()
		keeper, err := stage.Restore(t.Context(), s, [][]byte{stage.Following(nil, first), stage.Following(first, second)})
		if err != nil {
			return
		}
		_, _ = s.Changes() // this may fail, but must end
		if _, _, err := keeper.Delta(); err != nil {
			t.Error(err)
		}
		s.Rollback(keeper.Savepoint(0))
		if changes, err := s.Changes(); err != nil || len(changes) > 0 {
			t.Errorf("at the beginning the changes are %v, %v", changes, err)
		}
	})
}
