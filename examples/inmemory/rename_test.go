package inmemory_test

import (
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/examples/inmemory"
	"github.com/millrace-go/millrace/millracetest"
)

func TestRenamePackage(t *testing.T) {
	fsys := millracetest.Tree(t, `
-- old/a.go --
package old

func F() {}
-- old/b/b.go --
package b
-- main.go --
package main

import "example.com/old"

func main() { old.F() }
`)
	p, err := inmemory.RenamePackage("old", "fresh", "old", "fresh")
	if err != nil {
		t.Fatal(err)
	}

	res, err := millrace.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.String(), "OK: 5/5 steps | 2 files | 3 edits"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	millracetest.Equal(t, fsys, `
-- fresh/a.go --
package fresh

func F() {}
-- old/b/b.go --
package b
-- main.go --
package main

import "example.com/fresh"

func main() { fresh.F() }
`)
}
