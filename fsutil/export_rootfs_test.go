package fsutil

import "os"

// OpenLockFile opens the lock file of mounts that cannot lock directories, which tests do not have.
func (r *RootFs) OpenLockFile() (*os.File, error) { return r.openLockFile() }
