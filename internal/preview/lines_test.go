package preview_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/preview"
)

// TestCountOfLinesWritten writes whole files, below and above the size up to which their lines are compared. In the
// larger ones, moved lines do not count.
func TestCountOfLinesWritten(t *testing.T) {
	t.Parallel()
	lines := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("%07d %s\n", i, strings.Repeat("x", 41))
		}
		return list
	}
	for name, test := range map[string]struct {
		do           func(list []string) []string
		small, large int
	}{
		"three other lines":  {func(l []string) []string { l[1], l[9], l[20] = "a\n", "b\n", "c\n"; return l }, 3, 3},
		"two more lines":     {func(l []string) []string { return append(l, "a\n", "b\n") }, 2, 2},
		"four lines less":    {func(l []string) []string { return l[4:] }, 4, 4},
		"one more, two less": {func(l []string) []string { return append(l[2:], "a\n") }, 3, 2},
		"a line again":       {func(l []string) []string { return append(l, l[0]) }, 1, 1},
		"two lines moved":    {func(l []string) []string { return append(slices.Clone(l[2:]), l[:2]...) }, 4, 1},
		"a NUL byte":         {func(l []string) []string { l[3] = "\x00\n"; return l }, 1, 1},
		"the last end":       {func(l []string) []string { l[len(l)-1] = strings.TrimSuffix(l[len(l)-1], "\n"); return l }, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, want := range map[int]int{100: test.small, 50_000: test.large} {
				old, made := strings.Join(lines(n), ""), strings.Join(test.do(lines(n)), "")
				c := change.Change{Kind: change.Modified, Path: "a.txt", Old: file(old), New: file(made)}
				c.SetBytes(openAt(old), openAt(made))
				if got := (preview.View{}).Count([]change.Change{c}); got != want {
					t.Errorf("%d lines: %d are written, want %d", n, got, want)
				}
			}
		})
	}
}
