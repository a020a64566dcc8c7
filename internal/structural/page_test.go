package structural_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/structural"
)

// TestPairsOfThePage makes each replacement of docs/structural.md.
func TestPairsOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "structural.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (\\w+) \\| `(.+)` \\| `(.+)` \\| `(.+)` \\| `(.+)` "+
		"\\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) != 10 {
		t.Fatalf("%d rows can be read", len(rows))
	}
	for _, row := range rows {
		p := parse(t, row[1], row[2])
		with, err := p.ParseReplacement(row[3])
		if err != nil {
			t.Errorf("%s: %v", row[3], err)
			continue
		}
		var out []byte
		end, data := 0, []byte(row[4])
		err = p.Find(t.Context(), data, "", func(loc []int) bool {
			out = with.Append(append(out, data[end:loc[0]]...), data, loc, false)
			end = loc[1]
			return true
		})
		if out = append(out, data[end:]...); err != nil || string(out) != row[5] {
			t.Errorf("%s: %s becomes %s, %v; want %s", row[2], row[4], out, err, row[5])
		}
	}
	listed := regexp.MustCompile(`The languages are ([^.]*)\.`).FindStringSubmatch(string(page))
	if listed == nil {
		t.Fatal("the page lists no languages")
	}
	names := strings.Fields(strings.ReplaceAll(listed[1], ",", " "))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "and" })
	if !slices.Equal(names, structural.Names()) {
		t.Errorf("the page lists %q, want %q", names, structural.Names())
	}
}
