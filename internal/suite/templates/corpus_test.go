package templates_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// Texts in other template languages stay the same as always, byte for byte, except for references to steps in them. A
// text that has a meaning now was a mistake before, or had the meaning already.
func TestCorpus(t *testing.T) {
	t.Parallel()
	texts, err := filepath.Glob("testdata/corpus/*.txt")
	if err != nil || len(texts) < 4 {
		t.Fatalf("there are %d texts, %v", len(texts), err)
	}
	for _, name := range texts {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(name, ".txt") + ".want")
			if err != nil {
				t.Fatal(err)
			}
			fsys := suite.Tree("a.txt", "x x\n", "b,c.txt", "x\n", "other.txt", "y\n")
			p := millrace.New("p").
				Step("find", actions.Search{Pattern: "x"}).
				Step("item", actions.CountOccurrences{Files: []string{"a.txt", "b,c.txt", "other.txt"}, Pattern: "[xy]", Mode: "regex"}).
				Step("values-yaml", actions.Search{Pattern: "nowhere"}).
				Step("write", actions.Create{Path: "out", Content: string(text)}).MustBuild()
			if _, err := millrace.Run(t.Context(), fsys, p); err != nil {
				t.Fatal(err)
			}
			got, err := afero.ReadFile(fsys, "out")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
