package millrace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
)

// A container died in a commit, and its key with it. A person who knows that says so, and the tree is what it was.
func ExampleExecutor_TrustLeftover() {
	ctx := context.Background()
	disk := &brokenFs{Fs: tree("a.txt", "x\n", "b.txt", "x\n")}
	lost := millrace.Executor{Key: []byte("of a container that is gone")}
	_, _ = lost.Run(ctx, &armedFs{brokenFs: disk}, edit("a.txt", "b.txt"))
	disk.times = 0 // from here on nothing fails any more

	x := millrace.Executor{Key: []byte("of the one after that")}
	_, err := x.Recover(ctx, disk)
	fmt.Println("recovered by itself:", err == nil)
	found, err := x.Inspect(ctx, disk)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range found.Leftovers {
		fmt.Println(l.Status)
		recovery, err := x.TrustLeftover(ctx, disk, l.ID) // or DiscardLeftover, which leaves the tree as it is
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("undone:", len(recovery.RolledBack))
	}
	// Output:
	// recovered by itself: false
	// suspicious
	// undone: 1
}

// What a crash has left is thrown away by its id, and the tree stays as it is.
func ExampleExecutor_DiscardLeftover() {
	ctx := context.Background()
	disk := &brokenFs{Fs: tree("a.txt", "x\n", "b.txt", "x\n")}
	_, err := millrace.Run(ctx, &armedFs{brokenFs: disk}, edit("a.txt", "b.txt"))
	disk.times = 0
	fmt.Println("written:", millrace.Written(err))

	var x millrace.Executor
	found, err := x.Inspect(ctx, disk)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range found.Leftovers {
		if err := x.DiscardLeftover(ctx, disk, l.ID); err != nil {
			log.Fatal(err)
		}
	}
	found, err = x.Inspect(ctx, disk)
	fmt.Println("clean:", found.Clean(), err)
	// Output:
	// written: true
	// clean: true <nil>
}

// A backup is read again before anybody relies on it, and removed when nobody needs it.
func ExampleExecutor_VerifyBackup() {
	ctx := context.Background()
	fsys := tree("a.txt", "x\n")
	var x millrace.Executor
	res, err := x.Run(ctx, fsys, edit("a.txt"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.VerifyBackup(ctx, fsys, res.BackupID))
	if err := x.RemoveBackup(ctx, fsys, res.BackupID); err != nil {
		log.Fatal(err)
	}
	_, err = x.Restore(ctx, fsys, res.BackupID)
	fmt.Println(errors.Is(err, backup.ErrNotFound))
	// Output:
	// <nil>
	// true
}

// With ContinueOnError the steps that did not fail are committed, and the error says so.
func ExampleWritten() {
	fsys := tree("a.txt", "x\n")
	p := millrace.New("two").
		Step("missing", actions.Delete{Files: []string{"b.txt"}}).
		Step("note", actions.Create{Path: "note.txt", Content: "done\n"}).
		Options(millrace.Options{ContinueOnError: true}).
		MustBuild()
	_, err := millrace.Run(context.Background(), fsys, p)
	fmt.Println(errors.Is(err, fs.ErrNotExist), millrace.Written(err))
	// Output: true true
}

// A plan that is only looked at is closed, so that it keeps nothing open.
func ExamplePlan_Close() {
	plan, err := millrace.Executor{}.Plan(context.Background(), tree("a.txt", "x\n"), edit("a.txt"))
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	fmt.Println(plan.Result().FilesChanged.Modified)
	// Output: [a.txt]
}
