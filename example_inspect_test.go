package millrace_test

import (
	"context"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

// A run was killed in the middle of its commit. Inspect says so without touching anything, Recover takes back what was written.
func ExampleExecutor_Inspect() {
	ctx := context.Background()
	disk := &brokenFs{Fs: tree("a.txt", "x\n", "b.txt", "x\n")}
	_, err := millrace.Run(ctx, &armedFs{brokenFs: disk}, edit("a.txt", "b.txt"))
	fmt.Println("run failed:", err != nil)
	disk.times = 0 // from here on nothing fails any more

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
