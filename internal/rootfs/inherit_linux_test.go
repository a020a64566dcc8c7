package rootfs_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/modes"
)

const nobody = 65534

// accessList returns a list in the format of the system: a version, then entries of a tag, the permissions and an id.
func accessList(entries ...[3]uint32) []byte {
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range entries {
		list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
		list = binary.LittleEndian.AppendUint16(list, uint16(e[1]))
		list = binary.LittleEndian.AppendUint32(list, e[2])
	}
	return list
}

// listOf returns the access list of a file, or nil if it has none.
func listOf(t *testing.T, name string) []byte {
	t.Helper()
	buf := make([]byte, 1000)
	n, err := unix.Getxattr(name, "system.posix_acl_access", buf)
	if errors.Is(err, unix.ENODATA) {
		return nil
	}
	fstest.Must(t, err)
	return buf[:n]
}

// A file that was made elsewhere gets the access list of new files in its directory, and loses the list of the
// directory where it was made.
func TestInherit(t *testing.T) {
	t.Parallel()
	const owner, user, group, mask, other, none = 0x01, 0x02, 0x04, 0x10, 0x20, 0xffffffff
	named := accessList([3]uint32{owner, 7, none}, [3]uint32{user, 6, nobody}, [3]uint32{group, 7, none}, [3]uint32{mask, 5, none}, [3]uint32{other, 0, none})
	short := accessList([3]uint32{owner, 6, none}, [3]uint32{group, 4, none}, [3]uint32{other, 4, none})
	dir := t.TempDir()
	root := fstest.OpenRoot(t, dir)
	fstest.Must(t, errors.Join(root.Mkdir("named", 0o755), root.Mkdir("short", 0o755), root.Mkdir("bare", 0o755)))
	fstest.Write(t, root, "f", "x")
	for at, list := range map[string][]byte{"named": named, "short": short} {
		if err := unix.Setxattr(filepath.Join(dir, at), "system.posix_acl_default", list, 0); err != nil {
			t.Skip("access lists are not supported here:", err)
		}
	}
	for _, tt := range []struct {
		dir     string
		allowed fs.FileMode
		list    []byte
	}{
		{"named", 0o750, named},
		{"bare", fs.ModePerm, nil},
		{"named", 0o750, named},
		{"short", 0o644, nil}, // equal to the mode of the file
	} {
		allowed, err := root.Inherit(tt.dir, "f")
		if err != nil || allowed != modes.PermBits&^fs.ModePerm|tt.allowed {
			t.Errorf("in %s: allowed %v, %v", tt.dir, allowed, err)
		}
		if got := listOf(t, filepath.Join(dir, "f")); !bytes.Equal(got, tt.list) {
			t.Errorf("in %s: the file has the list %x", tt.dir, got)
		}
	}
	for _, names := range [][2]string{{"named", "none"}, {"f", "f"}, {"none", "f"}, {"named", "../f"}} {
		if _, err := root.Inherit(names[0], names[1]); err == nil {
			t.Errorf("%q: no error", names)
		}
	}
}
