//go:build !unix

package modes

import "io/fs"

// Umask returns 0: these systems have no umask.
func Umask() fs.FileMode { return 0 }
