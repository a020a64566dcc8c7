package capability_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/fsutil"
)

// bucketFs is a custom file system: any afero.Fs, with a lock that all programs take that write to the bucket.
type bucketFs struct {
	afero.Fs
	locks chan struct{}
}

func (b bucketFs) Lock(ctx context.Context) (io.Closer, error) {
	select {
	case b.locks <- struct{}{}:
		fmt.Println("locked")
		return b, nil
	case <-ctx.Done():
		return nil, capability.ErrLocked
	}
}

func (b bucketFs) Close() error {
	<-b.locks
	fmt.Println("unlocked")
	return nil
}

// A file system has abilities by its methods. Here it has a lock, which a run holds from before its first step until
// after its commit.
func Example() {
	memory, err := fsutil.Raise(afero.NewMemMapFs())
	if err != nil {
		log.Fatal(err)
	}
	bucket := bucketFs{memory, make(chan struct{}, 1)}
	p := millrace.New("greet").Step("make", actions.Create{Path: "hello.txt", Content: "hello\n"}).MustBuild()
	res, err := millrace.Run(context.Background(), bucket, p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res)
	// Output:
	// locked
	// unlocked
	// OK: 1/1 steps | 1 files | 0 edits
}
