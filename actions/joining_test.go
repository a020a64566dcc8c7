package actions_test

import (
	"testing"

	"github.com/millrace-go/millrace/actions"
)

func TestAggregate(t *testing.T) {
	read := actions.Result{Step: "read", Outcome: actions.Outcome{Files: []string{"b", "a"},
		Content: map[string]string{"a": "A\n", "b": "B"}}}
	odd := actions.Result{Step: "odd", Outcome: actions.Outcome{Files: []string{"c", "a"},
		Content: map[string]string{"z": "Z", "c": ""}, Aggregated: "sum"}}
	none := actions.Result{Step: "none", Outcome: actions.Outcome{Files: []string{"d"}}}
	line := "---\n"
	empty := ""
	for _, test := range []struct {
		name   string
		action actions.Aggregate
		inputs []actions.Result
		files  []string
		text   string
		warns  bool
	}{
		{"in order", actions.Aggregate{}, []actions.Result{read, odd}, []string{"b", "a", "c"}, "B\nA\n\n\nZ\nsum", false},
		{"the other way round", actions.Aggregate{Separator: &line}, []actions.Result{odd, read}, []string{"c", "a", "b"}, "---\nZ---\nsum---\nB---\nA\n", false},
		{"no separator", actions.Aggregate{Separator: &empty}, []actions.Result{read, none}, []string{"b", "a", "d"}, "BA\n", false},
		{"no content", actions.Aggregate{}, []actions.Result{none, none}, []string{"d"}, "", true},
		{"nothing at all", actions.Aggregate{}, []actions.Result{{}, {}}, nil, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			warned := false
			out, err := test.action.Run(t.Context(), &actions.Call{Inputs: test.inputs, OnWarning: func(string) { warned = true }})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "outcome", out, actions.Outcome{Files: test.files, Aggregated: test.text})
			if warned != test.warns {
				t.Errorf("warned %v", warned)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	inputs := []actions.Result{
		{Outcome: actions.Outcome{Files: []string{"b", "a", "c"}}},
		{Outcome: actions.Outcome{Files: []string{"c", "d", "b"}}},
		{Outcome: actions.Outcome{Files: []string{"b", "c"}}},
	}
	for mode, want := range map[string][]string{
		"": {"b", "a", "c", "d"}, "union": {"b", "a", "c", "d"}, "intersection": {"b", "c"},
	} {
		out, err := actions.Merge{Mode: mode}.Run(t.Context(), &actions.Call{Inputs: inputs})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, mode, out, actions.Outcome{Files: want})
	}
	_, err := actions.Merge{Mode: "xor"}.Run(t.Context(), &actions.Call{Inputs: inputs})
	wantError(t, err, "unsupported merge mode 'xor'")
}

func TestDiff(t *testing.T) {
	tree := files{
		"a": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b": "0\n1\n2\n3\n4\n5\n6\n7\n8\nnine\n", "same": "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
		"bin": "\x001", "bin2": "\x002", "empty": "",
	}
	for _, test := range []struct {
		diff    actions.Diff
		want    string
		changes int
	}{
		{actions.Diff{FileA: "./a", FileB: "b"}, "--- a\n+++ b\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -6,4 +7,4 @@\n 6\n 7\n 8\n-9\n+nine\n", 2},
		{actions.Diff{FileA: "a", FileB: "b", Context: new(0)}, "--- a\n+++ b\n@@ -0,0 +1 @@\n+0\n@@ -9 +10 @@\n-9\n+nine\n", 2},
		{actions.Diff{FileA: "a", FileB: "b", Context: new(4)}, "--- a\n+++ b\n@@ -1,9 +1,10 @@\n+0\n 1\n 2\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+nine\n", 1},
		{actions.Diff{FileA: "a", FileB: "same"}, "", 0},
		{actions.Diff{FileA: "empty", FileB: "empty"}, "", 0},
		{actions.Diff{FileA: "bin", FileB: "bin2"}, "Binary files bin and bin2 differ\n", 1},
		{actions.Diff{FileA: "bin", FileB: "bin"}, "", 0},
	} {
		b := inMemory(t, tree)
		out := b.must("s", test.diff, nil)
		equal(t, "outcome", out, actions.Outcome{Aggregated: test.want, Counts: map[string]int{"changes": test.changes}})
	}
	b := inMemory(t, tree)
	_, err := b.run("s", actions.Diff{FileA: "a", FileB: "gone"}, nil)
	wantError(t, err, "gone: file does not exist")
	_, err = b.run("s", actions.Diff{FileA: "../a", FileB: "a"}, nil)
	wantError(t, err, "../a: path escapes from the root of the tree")
}
