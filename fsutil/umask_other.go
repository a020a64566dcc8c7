//go:build !unix

package fsutil

import "io/fs"

// processUmask is for systems that have none.
func processUmask() fs.FileMode { return 0 }
