//go:build !unix

package cli

import "path/filepath"

// sameMount reports whether two directories are on the same volume.
func sameMount(one, other string) bool { return filepath.VolumeName(one) == filepath.VolumeName(other) }
