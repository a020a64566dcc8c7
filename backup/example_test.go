package backup_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
)

// Each commit makes a backup. The list also has the commit that was undone.
func Example() {
	ctx := context.Background()
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "a.txt", []byte("to recieve\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	var x millrace.Executor
	fix := millrace.New("fix").
		Step("fix", actions.Edit{Files: []string{"a.txt"}, OldText: "recieve", NewText: "receive"}).
		MustBuild()
	res, err := x.Run(ctx, fsys, fix)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := x.Restore(ctx, fsys, res.BackupID); err != nil {
		log.Fatal(err)
	}
	list, err := x.ListBackups(ctx, fsys)
	if err != nil {
		log.Fatal(err)
	}
	undone := map[string]bool{}
	for _, b := range list {
		undone[b.Restores] = true
	}
	for _, b := range list {
		if b.Pipeline == "fix" {
			fmt.Println(b.Files, "file of", b.Bytes, "bytes, undone:", undone[b.ID])
		}
	}
	text, err := afero.ReadFile(fsys, "a.txt")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", text)
	// Output:
	// 1 file of 11 bytes, undone: true
	// to recieve
}

// The host sets how many backups are kept, for how long, and how much disk space they may use.
func ExampleRetention() {
	ctx := context.Background()
	fsys := afero.NewMemMapFs()
	x := millrace.Executor{State: millrace.State{Backups: backup.Retention{Keep: 2, MaxAge: 30 * 24 * time.Hour, MaxBytes: 1 << 30}}}
	for _, text := range []string{"one", "two", "three", "four"} {
		p := millrace.New("write").
			Step("write", actions.Create{Paths: []string{"a.txt"}, Content: text, Overwrite: true}).
			MustBuild()
		if _, err := x.Run(ctx, fsys, p); err != nil {
			log.Fatal(err)
		}
	}
	list, err := x.ListBackups(ctx, fsys)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(list), "backups")
	// Output: 2 backups
}
