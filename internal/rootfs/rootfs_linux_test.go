package rootfs_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
)

// aclOf returns an access control list in the format of the system: the owner, one user by number, the group, the mask,
// others.
func aclOf(user uint32) []byte {
	const undefined = 0xffffffff
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{0x01, 6, undefined}, {0x02, 4, user}, {0x04, 4, undefined}, {0x10, 4, undefined}, {0x20, 0, undefined}} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

func TestRootFs_CopyMeta_attributes(t *testing.T) {
	base := t.TempDir()
	root := fstest.OpenRoot(t, base)
	fstest.Write(t, root, "f", "x")
	fstest.Write(t, root, "g", "y")
	set := func(name, attr string, value []byte) {
		t.Helper()
		if err := unix.Setxattr(filepath.Join(base, name), attr, value, 0); err != nil {
			t.Skipf("this mount has no extended attributes: %v", err)
		}
	}
	get := func(name, attr string) ([]byte, error) {
		buf := make([]byte, 1<<16)
		n, err := unix.Getxattr(filepath.Join(base, name), attr, buf)
		return buf[:max(n, 0)], err
	}
	long := bytes.Repeat([]byte("long"), 500)
	set("f", "user.a", []byte("1"))
	set("f", "user.empty", nil)
	set("f", "user.long", long)
	set("f", "system.posix_acl_access", aclOf(1234))
	set("g", "user.a", []byte("2"))
	set("g", "user.stale", []byte("3"))
	if err := root.CopyMeta("f", "g"); err != nil {
		t.Fatal(err)
	}
	for attr, want := range map[string][]byte{
		"user.a": []byte("1"), "user.empty": {}, "user.long": long, "system.posix_acl_access": aclOf(1234),
	} {
		if got, err := get("g", attr); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s = %q, %v, want %q", attr, got, err, want)
		}
	}
	if got, err := get("g", "user.stale"); !errors.Is(err, unix.ENODATA) {
		t.Errorf("an attribute that the other file does not have is still %q, %v", got, err)
	}
	if got := fstest.Read(t, root, "g"); got != "y" {
		t.Errorf("the file has %q", got)
	}

	// Attributes that a file has inherited from its directory are removed if the other file does not have them.
	fstest.Write(t, root, "plain", "z")
	if err := root.CopyMeta("plain", "g"); err != nil {
		t.Fatal(err)
	}
	for _, attr := range []string{"user.a", "system.posix_acl_access"} {
		if got, err := get("g", attr); !errors.Is(err, unix.ENODATA) {
			t.Errorf("%s is still %q, %v", attr, got, err)
		}
	}

	if err := root.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.Mkdir("e", 0o755); err != nil {
		t.Fatal(err)
	}
	set("d", "user.dir", []byte("4"))
	if err := root.CopyMeta("d", "e"); err != nil {
		t.Fatal(err)
	}
	if got, err := get("e", "user.dir"); err != nil || string(got) != "4" {
		t.Errorf("user.dir = %q, %v", got, err)
	}
}

// A forbidden operation must be an error, and must not prevent the rest.
func TestRootFs_CopyMeta_partly(t *testing.T) {
	base := t.TempDir()
	root := fstest.OpenRoot(t, base)
	fstest.Write(t, root, "f", "x")
	fstest.Write(t, root, "g", "y")
	if err := unix.Setxattr(filepath.Join(base, "f"), "user.a", []byte("1"), 0); err != nil {
		t.Skip(err)
	}
	fd, err := unix.Open(filepath.Join(base, "g"), unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	const immutable = 0x10
	if err := unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, immutable); err != nil {
		t.Skipf("cannot make a file immutable: %v", err)
	}
	defer unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, 0)
	var pathErr *fs.PathError
	if err := root.CopyMeta("f", "g"); !errors.Is(err, fs.ErrPermission) || !errors.As(err, &pathErr) {
		t.Errorf("CopyMeta to an immutable file = %v, want fs.ErrPermission", err)
	}
	if err := root.Link("g", "h"); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Link of an immutable file = %v, want errors.ErrUnsupported", err)
	}
}

// Only the change time shows that a file was changed and its modification time was reset.
func TestRootFs_IdentityOf_changeTime(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "f", "x")
	changed := func() int64 {
		t.Helper()
		info, err := root.Stat("f")
		if err != nil {
			t.Fatal(err)
		}
		id, _ := root.IdentityOf(info)
		return id.CTime
	}
	before := changed()
	when := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := root.Chtimes("f", when, when); err != nil {
		t.Fatal(err)
	}
	if after := changed(); before <= when.UnixNano() || after < before {
		t.Errorf("changed at %d, then at %d", before, after)
	}
}
