package textdiff_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/textdiff"
)

func ExampleUnified() {
	old := "one\ntwo\nthree\nfour\n"
	new := "one\n2\nthree\nfour\nfive"
	hunks, err := textdiff.Unified(context.Background(), os.Stdout, "old.txt", "new.txt", textdiff.Bytes(old), textdiff.Bytes(new), nil, 1)
	fmt.Println(hunks, err)
	// Output:
	// --- old.txt
	// +++ new.txt
	// @@ -1,4 +1,5 @@
	//  one
	// -two
	// +2
	//  three
	//  four
	// +five
	// \ No newline at end of file
	// 1 <nil>
}

func ExampleFilePatch_Print() {
	p := textdiff.FilePatch{
		OldName: "doc/notes.txt", NewName: "doc/readme.txt",
		OldMode: textdiff.ModeFile, NewMode: textdiff.ModeFile,
		Old: textdiff.Bytes("first\nsecond\nthird\n"),
		New: textdiff.Bytes("first\n2nd\nthird\n"),
	}
	if err := p.Print(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// diff --git a/doc/notes.txt b/doc/readme.txt
	// similarity index 63%
	// rename from doc/notes.txt
	// rename to doc/readme.txt
	// --- a/doc/notes.txt
	// +++ b/doc/readme.txt
	// @@ -1,3 +1,3 @@
	//  first
	// -second
	// +2nd
	//  third
}

func TestUnified(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, oldName, newName, old, new string
		context                          int
		hunks                            int
		want                             string
	}{
		{"equal", "a", "b", "x\n", "x\n", 3, 0, ""},
		{"both empty", "a", "b", "", "", 3, 0, ""},
		{"from nothing", "a", "b", "", "x\ny\n", 3, 1, "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n"},
		{"to nothing", "a", "b", "x", "", 3, 1, "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n"},
		{"insertion without context", "a", "b", "x\ny\n", "x\nz\ny\n", 0, 1, "--- a\n+++ b\n@@ -1,0 +2 @@\n+z\n"},
		{
			"no newline on both sides", "a", "b", "x\ny", "z\ny", 3, 1,
			"--- a\n+++ b\n@@ -1,2 +1,2 @@\n-x\n+z\n y\n\\ No newline at end of file\n",
		},
		{
			"two hunks", "a", "b", "1\n2\n3\n4\n", "1\nx\n3\n4\ny\n", 0, 2,
			"--- a\n+++ b\n@@ -2 +2 @@\n-2\n+x\n@@ -4,0 +5 @@\n+y\n",
		},
		{"names", "my file", "über\t\"x\"\\", "x\n", "y\n", 3, 1, "--- my file\t\n+++ \"\\303\\274ber\\t\\\"x\\\"\\\\\"\n@@ -1 +1 @@\n-x\n+y\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			hunks, err := textdiff.Unified(t.Context(), &b, tt.oldName, tt.newName, textdiff.Bytes(tt.old), textdiff.Bytes(tt.new), nil, tt.context)
			if err != nil || hunks != tt.hunks || b.String() != tt.want {
				t.Errorf("got %d, %v and\n%swant %d, <nil> and\n%s", hunks, err, b.String(), tt.hunks, tt.want)
			}
		})
	}
	if _, err := textdiff.Unified(t.Context(), &failing{after: 3}, "a", "b", textdiff.Bytes("x"), textdiff.Bytes("y"), nil, 3); !errors.Is(err, errFull) {
		t.Errorf("got %v, want %v", err, errFull)
	}
}
