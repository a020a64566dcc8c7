//go:build !linux

package semantics_test

import (
	"io/fs"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/rootfs"
)

// systemRows are measured on Linux.
func systemRows() []saveRow {
	return []saveRow{{name: "what Linux knows of a file", missing: func(string) string { return "it is only measured on Linux" }}}
}

func attributesOf(string) string { return "" }

func isSparse(fs.FileInfo) bool { return false }

// watched returns the file system without a watcher: not all systems can do the same.
func watched(root *rootfs.FS, look func()) afero.Fs { return root }
