package actions_test

import (
	"fmt"
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// The first matches of all files are replaced, in the order of the list, with any number of workers.
func TestEditMaxTotal(t *testing.T) {
	t.Parallel()
	in := files{"a.txt": "x x\n", "b.txt": "y\n", "c.txt": "x x x\n", "d.txt": "x\n"}
	for total, want := range []files{
		{"a.txt": "z z\n", "b.txt": "y\n", "c.txt": "z z z\n", "d.txt": "z\n"},
		{"a.txt": "z x\n", "b.txt": "y\n", "c.txt": "x x x\n", "d.txt": "x\n"},
		{"a.txt": "z z\n", "b.txt": "y\n", "c.txt": "x x x\n", "d.txt": "x\n"},
		{"a.txt": "z z\n", "b.txt": "y\n", "c.txt": "z x x\n", "d.txt": "x\n"},
		{"a.txt": "z z\n", "b.txt": "y\n", "c.txt": "z z x\n", "d.txt": "x\n"},
	} {
		for _, mode := range []string{"literal", "regex"} {
			t.Run(fmt.Sprint(total, mode), func(t *testing.T) {
				b := newBench(t, bases["memory"](t), in)
				b.must("s", actions.Edit{OldText: "x", NewText: "z", Mode: mode, MaxTotal: total}, []string{"a.txt", "b.txt", "c.txt", "d.txt"})
				b.wantTree(want)
			})
		}
	}
	b := newBench(t, bases["memory"](t), in)
	b.must("s", actions.Edit{OldText: "x", NewText: "z", MaxPerFile: 1, MaxTotal: 2}, []string{"d.txt", "c.txt", "a.txt"})
	b.wantTree(files{"a.txt": "x x\n", "b.txt": "y\n", "c.txt": "z x x\n", "d.txt": "z\n"})
}
