//go:build !unix

package modes

import "io/fs"

// Umask is for systems that have none.
func Umask() fs.FileMode { return 0 }
