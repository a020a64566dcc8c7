package backup_test

import (
	"context"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/commit"
)

// What a commit has replaced is listed, checked, and turned into the changes that undo it.
func Example() {
	fsys, err := fsutil.Raise(afero.NewMemMapFs())
	if err != nil {
		log.Fatal(err)
	}
	if err := afero.WriteFile(fsys, "a.txt", []byte("one\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	stage := fsutil.NewStage(fsys)
	defer stage.Close()
	if err := afero.WriteFile(stage, "a.txt", []byte("two\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	changes, err := stage.Changes()
	if err != nil {
		log.Fatal(err)
	}
	o := commit.Options{FS: fsys, StateDir: ".millrace", Pipeline: "ones"}
	if _, err := commit.Apply(context.Background(), o, changes); err != nil {
		log.Fatal(err)
	}

	list, err := backup.List(fsys, ".millrace")
	if err != nil {
		log.Fatal(err)
	}
	for _, info := range list {
		b, err := backup.Load(fsys, ".millrace", info.ID)
		if err != nil {
			log.Fatal(err)
		}
		undo, err := b.Changes()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(info.Pipeline, info.Files, info.Bytes, undo[0].Kind, undo[0].Path)
	}
	// Output: ones 1 4 modified a.txt
}
