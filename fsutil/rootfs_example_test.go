package fsutil_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/millrace-go/millrace/fsutil"
)

// Agents and editors send absolute names.
func ExampleRootFs_WithAbsolute() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()

	fmt.Println(root.WithAbsolute().Canonical(filepath.Join(dir, "src", "a.go")))
	_, err = root.WithAbsolute().Canonical(filepath.Dir(dir))
	fmt.Println(errors.Is(err, fsutil.ErrEscape))
	// Output:
	// src/a.go <nil>
	// true
}
