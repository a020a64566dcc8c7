package fsutil_test

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

func ExampleWalk() {
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		".gitignore": "*.o\n", ".git/config": "", "src/main.c": "int main;\n", "src/main.o": "\x7fELF", "README": "Read me.\n",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			fmt.Println(err)
		}
	}

	var mu sync.Mutex // visit is called from several goroutines
	var found []string
	err := fsutil.Walk(context.Background(), fsys, ".", fsutil.WalkOptions{}, func(e fsutil.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, e.Path())
		return nil
	})
	slices.Sort(found)
	fmt.Println(found, err)
	// Output: [.gitignore README src/main.c] <nil>
}
