package millrace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// A container died during a commit, and its key is lost. A person who knows that trusts the transaction, and the tree
// is as before.
func ExampleExecutor_TrustLeftover() {
	ctx := context.Background()
	disk := errorfs.Wrap(suite.Tree("a.txt", "x\n", "b.txt", "x\n"), nil)
	lost := millrace.Executor{State: millrace.State{Key: []byte("of a container that is gone")}}
	_, _ = lost.Run(ctx, suite.BreakAfter(disk, ""), suite.Edit("a.txt", "b.txt"))

	x := millrace.Executor{State: millrace.State{Key: []byte("of the one after that")}}
	_, err := x.Recover(ctx, disk)
	fmt.Println("recovered by itself:", err == nil)
	found, err := x.Inspect(ctx, disk)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range found.Leftovers {
		fmt.Println(l.Status)
		recovery, err := x.TrustLeftover(ctx, disk, l.ID) // or DiscardLeftover, which leaves the tree unchanged
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

// A transaction that a crash has left is discarded by its id, and the tree stays unchanged.
func ExampleExecutor_DiscardLeftover() {
	ctx := context.Background()
	disk := errorfs.Wrap(suite.Tree("a.txt", "x\n", "b.txt", "x\n"), nil)
	_, err := millrace.Run(ctx, suite.BreakAfter(disk, ""), suite.Edit("a.txt", "b.txt"))
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

// A backup is verified before somebody relies on it, and removed when it is no longer needed.
func ExampleExecutor_VerifyBackup() {
	ctx := context.Background()
	fsys := suite.Tree("a.txt", "x\n")
	var x millrace.Executor
	res, err := x.Run(ctx, fsys, suite.Edit("a.txt"))
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

// With ContinueOnError the successful steps are committed, and the error reports that.
func ExampleWritten() {
	fsys := suite.Tree("a.txt", "x\n")
	p := millrace.New("two").
		Options(millrace.Options{ContinueOnError: true}).
		Step("missing", actions.Delete{Files: []string{"b.txt"}}).
		Step("note", actions.Create{Path: "note.txt", Content: "done\n"}).
		MustBuild()
	_, err := millrace.Run(context.Background(), fsys, p)
	fmt.Println(errors.Is(err, fs.ErrNotExist), millrace.Written(err))
	// Output: true true
}

// A plan that is only looked at is closed, to release its resources.
func ExamplePlan_Close() {
	plan, err := millrace.Executor{}.Plan(context.Background(), suite.Tree("a.txt", "x\n"), suite.Edit("a.txt"))
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	fmt.Println(plan.Result().FilesChanged.Modified)
	// Output: [a.txt]
}

// A restore is planned like any change: shown, trimmed, committed. The list of backups reports which commits are
// undone.
func ExampleExecutor_PlanRestore() {
	ctx := context.Background()
	fsys := suite.Tree("a.txt", "one\n", "b.txt", "one\n")
	var x millrace.Executor
	res, err := x.Run(ctx, fsys, millrace.New("ones").
		Step("edit", actions.Edit{Files: []string{"a.txt", "b.txt"}, OldText: "one", NewText: "two"}).MustBuild())
	if err != nil {
		log.Fatal(err)
	}

	plan, err := x.PlanRestore(ctx, fsys, res.BackupID)
	if err != nil {
		log.Fatal(err)
	}
	if plan, err = plan.Reject("b.txt"); err != nil { // b.txt stays as it is now
		log.Fatal(err)
	}
	fmt.Print(plan.Diff())
	if _, err = plan.Commit(ctx); err != nil {
		log.Fatal(err)
	}
	list, err := x.ListBackups(ctx, fsys)
	if err != nil {
		log.Fatal(err)
	}
	for _, info := range list {
		if info.Restores != "" {
			fmt.Println("undone:", info.Restores == res.BackupID)
		}
	}
	// Output:
	// diff --git a/a.txt b/a.txt
	// --- a/a.txt
	// +++ b/a.txt
	// @@ -1 +1 @@
	// -two
	// +one
	// undone: true
}

// The host prunes its backups under the lock of the tree.
func ExampleExecutor_PruneBackups() {
	ctx := context.Background()
	fsys := suite.Tree("n.txt", "end\n")
	x := millrace.Executor{State: millrace.State{Backups: backup.Retention{Keep: -1}}} // all of them
	for range 5 {
		if _, err := x.Run(ctx, fsys, suite.Count()); err != nil {
			log.Fatal(err)
		}
	}
	gone, err := x.PruneBackups(ctx, fsys, backup.Retention{Keep: 2})
	if err != nil {
		log.Fatal(err)
	}
	list, err := x.ListBackups(ctx, fsys)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(gone), "removed,", len(list), "left, whole:", x.VerifyBackup(ctx, fsys, list[0].ID) == nil)
	if err := x.RemoveBackup(ctx, fsys, list[0].ID); err != nil {
		log.Fatal(err)
	}
	_, err = x.Restore(ctx, fsys, list[0].ID)
	fmt.Println(errors.Is(err, backup.ErrNotFound))
	// Output:
	// 3 removed, 2 left, whole: true
	// true
}

// A run was killed during its commit. Inspect reports that without changing anything, Recover undoes the written part.
func ExampleExecutor_Inspect() {
	ctx := context.Background()
	disk := errorfs.Wrap(suite.Tree("a.txt", "x\n", "b.txt", "x\n"), nil)
	_, err := millrace.Run(ctx, suite.BreakAfter(disk, ""), suite.Edit("a.txt", "b.txt"))
	fmt.Println("run failed:", err != nil)

	var x millrace.Executor
	found, err := x.Inspect(ctx, afero.NewReadOnlyFs(disk))
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range found.Leftovers {
		fmt.Println(l.Status, l.Pipeline, l.Paths)
	}
	if _, err := x.Recover(ctx, disk); err != nil {
		log.Fatal(err)
	}
	found, err = x.Inspect(ctx, disk)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("clean:", found.Clean())
	// Output:
	// run failed: true
	// interrupted edit [a.txt b.txt]
	// clean: true
}
