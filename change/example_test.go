package change_test

import (
	"fmt"
	"io"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

// Changes made on a stage become a change at each path, with the bytes of both sides.
func ExampleChange() {
	base := afero.NewMemMapFs()
	if err := afero.WriteFile(base, "notes.txt", []byte("one\ntwo\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	stage := fsutil.NewStage(base)
	defer stage.Close()
	if err := stage.Edit("notes.txt", []change.Splice{{Off: 4, Len: 3, Text: []byte("2")}}); err != nil {
		log.Fatal(err)
	}
	if err := stage.Rename("notes.txt", "list.txt"); err != nil {
		log.Fatal(err)
	}
	changes, err := stage.Changes()
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range changes {
		r, err := c.OpenNew()
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			log.Fatal(err)
		}
		r.Close()
		fmt.Println(c.Kind, c.OldPath(), "->", c.Path)
		fmt.Printf("%d bytes become %d: %q\n", c.Old.Size, c.New.Size, text)
		for _, s := range c.Splices {
			fmt.Printf("at %d, %d bytes become %q\n", s.Off, s.Len, s.Text)
		}
	}
	// Output:
	// renamed notes.txt -> list.txt
	// 8 bytes become 6: "one\n2\n"
	// at 4, 3 bytes become "2"
}
