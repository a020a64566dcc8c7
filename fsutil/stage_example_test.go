package fsutil_test

import (
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

// A stage collects writes and returns the resulting changes. The base stays unchanged.
func ExampleStage() {
	base := afero.NewMemMapFs()
	if err := afero.WriteFile(base, "a.txt", []byte("hello\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	stage := fsutil.NewStage(base)
	defer stage.Close()

	if err := stage.Edit("a.txt", []change.Splice{{Off: 5, Text: []byte(", world")}}); err != nil {
		log.Fatal(err)
	}
	here := stage.Savepoint()
	if err := stage.Remove("a.txt"); err != nil {
		log.Fatal(err)
	}
	stage.Rollback(here) // the file is back, edited

	changes, err := stage.Changes()
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range changes {
		fmt.Println(c.Kind, c.Path, c.Old.Size, "->", c.New.Size)
	}
	staged, _ := afero.ReadFile(stage, "a.txt")
	below, _ := afero.ReadFile(base, "a.txt")
	fmt.Printf("%s%s", staged, below)
	// Output:
	// modified a.txt 6 -> 13
	// hello, world
	// hello
}
