package patch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/patch/placing"
)

// placed places the hunks of a patch of one file.
func placed(t *testing.T, data, text string, s placing.Settings) []placing.Placed {
	t.Helper()
	read, problems, err := patch.Parse(text, patch.Options{Strip: -1})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	in, err := placing.NewText([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	s.Format = read.Format
	all, err := in.Place(t.Context(), &read.Files[0], s, &placing.Steps{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPlaceManyLines: the time does not grow with the number of added lines times the number of possible places.
func TestPlaceManyLines(t *testing.T) {
	t.Parallel()
	const lines, added = 100_000, 20_000
	for name, text := range map[string]string{
		"context": fmt.Sprintf("@@ -2,1 +2,%d @@\n \n", added+1) + strings.Repeat("+x\n", added),
		"removed": fmt.Sprintf("@@ -2,2 +2,%d @@\n \n-\n", added+1) + strings.Repeat("+x\n", added),
	} {
		start := time.Now()
		for i, p := range placed(t, strings.Repeat("\n", lines), "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-\n+y\n"+text, placing.Settings{}) {
			if _, ok := p.Err.(*placing.AmbiguousError); p.Err != nil && !(ok && i == 1) {
				t.Errorf("%s: hunk %d: %v", name, i+1, p.Err)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}

// TestPlaceMarks: a byte order mark in a later line of a file is a character like others for both sides.
func TestPlaceMarks(t *testing.T) {
	t.Parallel()
	const bom = "\ufeff"
	for name, test := range map[string]struct {
		data, text string
		fails      bool
	}{
		"quoted":           {"a\n" + bom + "b\nc\n", "@@ -1,3 +1,3 @@\n a\n " + bom + "b\n-c\n+d\n", false},
		"removed":          {"a\n" + bom + "b\n", "@@ -1,2 +1,2 @@\n a\n-" + bom + "b\n+d\n", false},
		"first":            {bom + "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+d\n", false},
		"first in patch":   {"a\nb\n", "@@ -1,2 +1,2 @@\n " + bom + "a\n-b\n+d\n", false},
		"first and moved":  {bom + "x\na\nb\n", "@@ -1,2 +1,2 @@\n " + bom + "a\n-b\n+d\n", false},
		"only in the file": {"a\n" + bom + "b\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+d\n c\n", true},
		"only in the hunk": {"a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-" + bom + "b\n+d\n c\n", true},
	} {
		for _, p := range placed(t, test.data, "--- a/f\n+++ b/f\n"+test.text, placing.Settings{}) {
			if (p.Err != nil) != test.fails {
				t.Errorf("%s: %v", name, p.Err)
			}
		}
	}
}
