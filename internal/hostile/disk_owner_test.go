//go:build linux

package hostile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
)

// accessList is an access control list that lets user 1000 read, in the kernel's format.
func accessList() []byte {
	var b bytes.Buffer
	const version, userObj, user, groupObj, mask, other, none = 2, 1, 2, 4, 0x10, 0x20, 0xffffffff
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // to memory
	put(uint32(version))
	for _, e := range []struct {
		Tag, Perm uint16
		ID        uint32
	}{{userObj, 7, none}, {user, 4, 1000}, {groupObj, 5, none}, {mask, 5, none}, {other, 1, none}} {
		put(e)
	}
	return b.Bytes()
}

// dressed plants files with all metadata that a file can have.
func dressed(t *testing.T, dir string) {
	t.Helper()
	plantDir(t, dir, "files/setuid=word", "files/sticky=word", "files/attr=word", "files/acl=word", "files/theirs=word")
	path := func(name string) string { return filepath.Join(dir, "files", name) }
	must(t,
		os.Chown(path("setuid"), 4321, 1234), unix.Chmod(path("setuid"), 0o6755),
		unix.Chmod(path("sticky"), 0o1640),
		os.Chown(path("theirs"), 4321, 1234), os.Chmod(path("theirs"), 0o646),
	)
	for name, attr := range map[string]struct {
		name  string
		value []byte
	}{"attr": {"user.note", []byte("kept")}, "acl": {"system.posix_acl_access", accessList()}} {
		if err := unix.Setxattr(path(name), attr.name, attr.value, 0); errors.Is(err, unix.ENOTSUP) {
			t.Logf("%s has no %s: not tested", dir, attr.name)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"setuid", "sticky", "attr", "acl", "theirs"} {
		must(t, os.Chtimes(path(name), longBefore, longBefore))
	}
}

// TestHostile_permissions_attributes_and_owner_stay edits files: everything except bytes and times stays, and is
// restored with the backup.
func TestHostile_permissions_attributes_and_owner_stay(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for name, dir := range map[string]string{"disk": t.TempDir(), "memory": fstest.TempDir(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dressed(t, dir)
			before := treeOf(t, dir, exact)
			res, err := host().Run(t.Context(), openDir(t, dir), diskPipelines()["edits"])
			if err != nil || len(res.Warnings) > 0 {
				t.Fatalf("%v, warnings %q", err, res.Warnings)
			}
			bare := func(tree map[string]string) map[string]string {
				out := make(map[string]string)
				for p, text := range tree {
					fields := strings.Fields(text)
					if len(fields) > 3 { // mode, bytes, time, owner, attributes, inode
						fields = append(fields[:1], fields[3:len(fields)-1]...)
					}
					out[p] = strings.Join(fields, " ")
				}
				delete(out, stateName)
				return out
			}
			want := bare(before)
			for p, got := range bare(treeOf(t, dir, exact)) {
				if got != want[p] {
					t.Errorf("%s is %s, was %s", p, got, want[p])
				}
			}
			if got := treeOf(t, dir, contents)["files/setuid"]; got != `106755 "edited"` {
				t.Errorf("setuid is %s", got)
			}
			_, err = host().Restore(t.Context(), openDir(t, dir), res.BackupID)
			must(t, err)
			for p, got := range bare(treeOf(t, dir, exact)) {
				if got != want[p] {
					t.Errorf("after the restore %s is %s, was %s", p, got, want[p])
				}
			}
		})
	}
}

// TestHostile_owners_when_not_root: a file that another user owns, and that this user may not write to, stays. With
// ReplaceForeign it is replaced: only root can keep the owner. That is a warning, and nobody gains permissions.
func TestHostile_owners_when_not_root(t *testing.T) {
	t.Parallel()
	dir := forNobody(t, func(t testing.TB, dir string) { plantDir(t, dir, "files/theirs=word", "files/own=word") })
	must(t, os.Chown(filepath.Join(dir, "files/theirs"), 4321, 1234), unix.Chmod(filepath.Join(dir, "files/theirs"), 0o6755))
	r := diskJob{Dir: dir, Pipeline: "edits"}.start(t, as(t, nobody))
	if !strings.Contains(r.Error, "permission denied") || !strings.Contains(r.Error, "files/theirs") || !r.Typed {
		t.Errorf("a file that this user may not write to: %q", r.Error)
	}
	var st syscall.Stat_t
	must(t, syscall.Lstat(filepath.Join(dir, "files/theirs"), &st))
	if st.Uid != 4321 || st.Gid != 1234 || st.Mode&0o7777 != 0o6755 {
		t.Errorf("owner is %d:%d, mode %o", st.Uid, st.Gid, st.Mode)
	}
	r = diskJob{Dir: dir, Pipeline: "edits", Foreign: true}.start(t, as(t, nobody))
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	warned := strings.Join(r.Warnings, "\n")
	if !strings.Contains(warned, "files/theirs: owner") || strings.Contains(warned, "files/own") {
		t.Errorf("warnings are %q", r.Warnings)
	}
	must(t, syscall.Lstat(filepath.Join(dir, "files/theirs"), &st))
	if st.Uid != nobody || st.Gid != nobody || st.Mode&0o7777 != 0o755 {
		t.Errorf("owner is %d:%d, mode %o", st.Uid, st.Gid, st.Mode)
	}
}
