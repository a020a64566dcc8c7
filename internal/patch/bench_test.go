package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/patch/placing"
)

// BenchmarkStale places a hundred hunks in a file of a million lines that has grown at its beginning.
func BenchmarkStale(b *testing.B) {
	var file, text strings.Builder
	file.WriteString("new\n")
	text.WriteString("--- a/f\n+++ b/f\n")
	for i := range 1_000_000 {
		line := fmt.Sprintf("line %d", i)
		if i%3 == 0 {
			line = "}"
		}
		file.WriteString(line + "\n")
		if i%9_999 == 1 && i < 999_900 {
			fmt.Fprintf(&text, "@@ -%d,4 +%d,4 @@\n }\n-line %d\n+x\n line %d\n }\n", i, i, i, i+1)
		}
	}
	read, problems, err := patch.Parse(text.String(), patch.Options{Strip: -1})
	if err != nil || len(problems) > 0 || len(read.Files[0].Hunks) != 100 {
		b.Fatal(err, problems)
	}
	data := []byte(file.String())
	for b.Loop() {
		t, err := placing.NewText(data)
		if err != nil {
			b.Fatal(err)
		}
		placed, err := t.Place(b.Context(), &read.Files[0], placing.Settings{Format: patch.Unified}, &placing.Steps{})
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range placed {
			if p.Err != nil || p.Moved != 1 {
				b.Fatal(p)
			}
		}
	}
}
