package actions_test

import (
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// TestLineAnchors: in every action with a regular expression, ^ and $ are the ends of lines.
func TestLineAnchors(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"a.txt": "one\ntwo\nthree\n", "b.txt": "onetwo\n"})
	found := b.must("search", actions.Search{Pattern: "^two$"}, nil)
	equal(t, "files with the line", found.Files, []string{"a.txt"})
	counted := b.must("count", actions.CountOccurrences{Pattern: "^t", Mode: "regex"}, []string{"a.txt"})
	equal(t, "counts", counted.Counts, map[string]int{"a.txt": 2})
	b.must("edit", actions.Edit{OldText: "^two$", NewText: "2", Mode: "regex"}, []string{"a.txt"})
	transform := actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: "e$", Replacement: "E"}}}
	b.must("transform", transform, []string{"a.txt"})
	b.wantTree(files{"a.txt": "onE\n2\nthreE\n", "b.txt": "onetwo\n"})
}

// TestLineAnchors_withoutMatch: a file with the line is not among the files without it, which the next step deletes.
func TestLineAnchors_withoutMatch(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"a.txt": "one\ntwo\nthree\n", "b.txt": "onetwo\n"})
	b.must("search", actions.Search{Pattern: "^two$", WithoutMatch: true}, nil)
	b.must("delete", actions.Delete{}, nil, "search")
	b.wantTree(files{"a.txt": "one\ntwo\nthree\n"})
}
