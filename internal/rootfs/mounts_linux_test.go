package rootfs

import (
	"slices"
	"testing"
)

// TestMountedBelow: the mount points of a directory are found by their names, whatever bytes are in those.
func TestMountedBelow(t *testing.T) {
	t.Parallel()
	const info = `22 1 0:21 / / rw - ext4 /dev/vda rw
30 22 0:21 /outside /work/tree/f rw,relatime - ext4 /dev/vda rw
31 22 0:21 /outside /work/tree/f rw,relatime - ext4 /dev/vda rw
32 22 0:22 / /work/tree rw - tmpfs none rw
33 22 0:23 / /work/tree/a\040b\134c rw - tmpfs none rw
34 22 0:23 / /work/trees/g rw - tmpfs none rw
35 22
36 22 0:24 / /work/tree/d/e rw - tmpfs none rw
`
	for dir, want := range map[string][]string{
		"/work/tree": {`a b\c`, "d/e", "f"},
		"/":          {"work/tree", `work/tree/a b\c`, "work/tree/d/e", "work/tree/f", "work/trees/g"},
		"/work/tr":   nil,
	} {
		if got := mountedBelow(dir, info); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
}
