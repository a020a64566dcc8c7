package rootfs

import (
	"slices"
	"testing"
)

// TestMountedBelow: the mount points of a directory are found by their names, with any bytes in them.
func TestMountedBelow(t *testing.T) {
	t.Parallel()
	const info = `22 1 0:21 / / rw - ext4 /dev/vda rw
30 22 0:21 /outside /home/u/tree/f rw,relatime - ext4 /dev/vda rw
31 22 0:21 /outside /home/u/tree/f rw,relatime - ext4 /dev/vda rw
32 22 0:22 / /home/u/tree rw - tmpfs none rw
33 22 0:23 / /home/u/tree/a\040b\134c rw - tmpfs none rw
34 22 0:23 / /home/u/trees/g rw - tmpfs none rw
35 22
36 22 0:24 / /home/u/tree/d/e rw - tmpfs none rw
`
	for dir, want := range map[string][]string{
		"/home/u/tree": {`a b\c`, "d/e", "f"},
		"/":            {"home/u/tree", `home/u/tree/a b\c`, "home/u/tree/d/e", "home/u/tree/f", "home/u/trees/g"},
		"/home/u/tr":   nil,
	} {
		if got := mountedBelow(dir, info); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
}
