package actions_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/actions"
)

// TestRenameByPattern checks that a pattern changes a part of the path from the base, and that other files stay.
func TestRenameByPattern(t *testing.T) {
	tree := files{"src/test_a.py": "A", "src/test_b.py": "B", "src/c.py": "C", "old/old.go": "O", "d/x.txt": "X"}
	for _, test := range []struct {
		name                       string
		pattern, replacement, base string
		files                      []string
		want                       map[string]string // expected renames
		warning                    string
	}{
		{"groups", `test_(\w+)\.py`, "${1}_test.py", "", []string{"src/test_a.py", "src/test_b.py", "src/c.py"},
			map[string]string{"src/test_a.py": "src/a_test.py", "src/test_b.py": "src/b_test.py"}, ""},
		{"directories too", "old", "new", "", []string{"old/old.go"}, map[string]string{"old/old.go": "new/new.go"}, ""},
		{"from a base", "^(t|c)", "x$1", "src", []string{"src/test_a.py", "src/c.py"},
			map[string]string{"src/test_a.py": "src/xtest_a.py", "src/c.py": "src/xc.py"}, ""},
		{"up from a base", "^", "../", "src", []string{"src/c.py"}, map[string]string{"src/c.py": "c.py"}, ""},
		{"the case", `test_(\w)`, `\u${1}`, "", []string{"src/test_a.py"}, map[string]string{"src/test_a.py": "src/A.py"}, ""},
		{"a directory is removed", "^src/", "", "", []string{"src/c.py"}, map[string]string{"src/c.py": "c.py"}, ""},
		{"a directory with all in it", "src", "lib", "", []string{"src"},
			map[string]string{"src/test_a.py": "lib/test_a.py", "src/test_b.py": "lib/test_b.py", "src/c.py": "lib/c.py"}, ""},
		{"nothing matches", "none", "x", "", []string{"src/c.py", "d/x.txt"}, nil, `pattern "none" matches no path of 2 files`},
		{"a name alone matches", "^c", "x", "", []string{"src/c.py"}, nil, "write (^|/) for ^"},
		{"the same name", "c.py", "c.py", "", []string{"src/c.py"}, nil, "its replacement is the same"},
		{"no files", "c", "d", "", nil, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, bases["root"](t), tree)
			a := actions.Rename{Pattern: test.pattern, Replacement: new(test.replacement), Base: test.base}
			out := b.must("s", a, test.files)
			equal(t, "renames", out.Renames, test.want)
			want := maps.Clone(tree)
			for from, to := range test.want {
				delete(want, from)
				want[to] = tree[from]
			}
			b.wantTree(want)
			if test.warning != "" {
				b.wantWarning(test.warning)
			} else {
				b.wantWarning()
			}
		})
	}
}

// TestRenamesAtOnce checks that new names are computed before anything moves: chains, swaps and cycles.
func TestRenamesAtOnce(t *testing.T) {
	tree := files{"1": "a", "2": "b", "3": "c", "d/x": "x", "d/y": "y", "e/z": "z"}
	for name, renames := range map[string]map[string]string{
		"a chain":                 {"1": "2", "2": "3", "3": "4"},
		"a swap":                  {"1": "2", "2": "1"},
		"a cycle":                 {"1": "2", "2": "3", "3": "1"},
		"across directories":      {"1": "d/x", "d/x": "d/y", "d/y": "1"},
		"directories":             {"d": "e", "e": "d"},
		"a file and a directory":  {"d": "1", "1": "d"},
		"to new directories":      {"1": "n/m/1", "2": "n/2"},
		"written in another way":  {"./1": "x//y/../1"},
		"a slash after directory": {"d/": "f"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, bases["root"](t), tree)
			out := b.must("s", actions.Rename{Renames: renames}, nil)
			want := files{}
			for file, text := range tree {
				to := file
				for old, name := range renames {
					if old, name = path.Clean(old), path.Clean(name); file == old || strings.HasPrefix(file, old+"/") {
						to = name + strings.TrimPrefix(file, old)
						equal(t, "the outcome of "+file, out.Renames[file], to)
					}
				}
				want[to] = text
			}
			b.wantTree(want)
		})
	}
}

// TestRenamesThatCollide checks that colliding names are refused before anything moves.
func TestRenamesThatCollide(t *testing.T) {
	tree := files{"1": "a", "2": "b", "d/x": "x", "e/z": "z"}
	for _, test := range []struct {
		name string
		a    actions.Rename
		on   []string
		want string
	}{
		{"one target twice", actions.Rename{Renames: map[string]string{"1": "n", "2": "n"}}, nil, "n would be made from more than one file (from 1, 2)"},
		{"one that stays", actions.Rename{Renames: map[string]string{"1": "2"}}, nil, "2 exists already (from 1)"},
		{"itself", actions.Rename{Renames: map[string]string{"1": "1"}}, nil, "1 is the file itself (from 1)"},
		{"a directory that is there", actions.Rename{Renames: map[string]string{"1": "d"}}, nil, "d is a directory (from 1)"},
		{"into itself", actions.Rename{Renames: map[string]string{"d": "d/e"}}, nil, "d/e would lie inside d, which cannot be put into itself (from d)"},
		{"two ways to write one", actions.Rename{Renames: map[string]string{"1": "n", "./1": "m"}}, nil, "1: has two new names in renames, as './1' and as '1'"},
		{"with its directory", actions.Rename{Renames: map[string]string{"d": "f", "d/x": "f/y"}}, nil, "f/y comes from d, which is renamed too (from d/x)"},
		{"not there", actions.Rename{Renames: map[string]string{"none": "n", "1": "m"}}, nil, "none: file does not exist"},
		{"out of the tree", actions.Rename{Renames: map[string]string{"1": "../1"}}, nil, "../1: path escapes from the root of the tree"},
		{"a directory to put it into", actions.Rename{Renames: map[string]string{"1": "n/"}}, nil, "1: the new name ends in a slash"},
		{"no name", actions.Rename{Renames: map[string]string{"1": ""}}, nil, "1: the new name is empty"},
		{"by a pattern", actions.Rename{Pattern: "[12]", Replacement: new("n")}, []string{"1", "2"}, "n would be made from more than one file (from 1, 2)"},
		{"a pattern that takes all", actions.Rename{Pattern: ".*", Replacement: new("")}, []string{"1"}, `1: pattern makes "" of the path, which is not the name of a file`},
		{"a pattern that takes the name", actions.Rename{Pattern: "x", Replacement: new("")}, []string{"d/x"}, `d/x: pattern makes "d/" of the path, which is not the name of a file`},
		{"a pattern that takes the directory", actions.Rename{Pattern: "^d", Replacement: new("")}, []string{"d/x"}, `d/x: pattern makes "/x" of the path, which is not the name of a file`},
		{"a pattern that leads out", actions.Rename{Pattern: "^", Replacement: new("../")}, []string{"1"}, "../1: path escapes from the root of the tree"},
		{"a long name", actions.Rename{Pattern: "1", Replacement: new(strings.Repeat("n", 5000))}, []string{"1"}, "1: pattern makes a name of more than 4096 bytes"},
		{"not below the base", actions.Rename{Pattern: "1", Replacement: new("n"), Base: "d"}, []string{"1"}, "1: is not below the base 'd'"},
		{"no replacement", actions.Rename{Pattern: "1"}, []string{"1"}, "pattern needs 'replacement'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, bases["root"](t), tree)
			_, err := b.run("s", test.a, test.on)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			b.wantTree(tree)
		})
	}
}

// TestRenameParameters checks that the names can be determined in one way only.
func TestRenameParameters(t *testing.T) {
	one, list := new("x"), map[string]string{"a": "b"}
	for _, test := range []struct {
		name string
		a    actions.Rename
		in   bool // files of another step
		want string
	}{
		{"pattern", actions.Rename{Pattern: "a", Replacement: one}, true, ""},
		{"renames", actions.Rename{Renames: list}, false, ""},
		{"nothing", actions.Rename{}, true, "rename action requires 'destination' parameter"},
		{"no replacement", actions.Rename{Pattern: "a"}, true, "pattern needs 'replacement'"},
		{"no pattern", actions.Rename{Replacement: one}, true, "replacement needs 'pattern'"},
		{"pattern and to", actions.Rename{Pattern: "a", Replacement: one, To: "b"}, true, "pattern and to exclude each other"},
		{"pattern and destination", actions.Rename{Pattern: "a", Replacement: one, Destination: "b"}, true, "pattern and destination exclude each other"},
		{"renames and a step", actions.Rename{Renames: list}, true, "renames and input_from exclude each other"},
		{"renames and files", actions.Rename{Renames: list, Files: []string{"a"}}, false, "renames and files exclude each other"},
		{"renames and base", actions.Rename{Renames: list, Base: "a"}, false, "renames and base exclude each other"},
		{"bad pattern", actions.Rename{Pattern: "(", Replacement: one}, true, "missing closing )"},
		{"bad group", actions.Rename{Pattern: "a", Replacement: new("$1x")}, true, "write ${1}x"},
		{"bad name", actions.Rename{Renames: map[string]string{"a": "b/"}}, false, "the new name of 'a' ends in a slash"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &actions.Check{HasInput: test.in}
			test.a.Validate(c)
			var got []string
			for _, p := range c.Problems {
				got = append(got, p.Message+" "+p.Hint)
			}
			if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
				t.Errorf("problems %q, want %q", got, test.want)
			}
		})
	}
}

// TestRenamesByModel renames some files to the names of others and to new names, and compares with a map.
func TestRenamesByModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`([ab]/)?[c-f]{1,2}`), 2, 12, rapid.ID)
		old := names.Draw(rt, "old")
		tree := files{}
		for _, name := range old {
			tree[name] = name
		}
		moved := old[:rapid.IntRange(1, len(old)).Draw(rt, "moved")]
		targets := rapid.Permutation(slices.Concat(moved, names.Draw(rt, "new"))).Draw(rt, "targets")
		renames, want := map[string]string{}, maps.Clone(tree)
		for i, name := range moved {
			renames[name] = targets[i]
			delete(want, name)
		}
		for name, to := range renames {
			if _, taken := want[to]; taken || name == to {
				rt.Skip("two files of one name")
			}
			want[to] = tree[name]
		}
		b := inMemory(t, tree)
		b.must("s", actions.Rename{Renames: renames}, nil)
		b.wantTree(want)
	})
}
