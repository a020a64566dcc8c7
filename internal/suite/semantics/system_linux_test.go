package semantics_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// systemRows returns rows about the attributes of a file that only Linux reports.
func systemRows() []saveRow {
	return []saveRow{
		{
			name: "setuid and setgid bits", same: func(was, is seen) bool { return was.mode == is.mode },
			changed: func(was, is seen) string {
				if is.mode == was.mode.Perm() {
					return "none"
				}
				return is.mode.String()
			},
			prepare: func(dir string) error {
				return os.Chmod(filepath.Join(dir, subject), 0o751|fs.ModeSetuid|fs.ModeSetgid)
			},
			want: notOfCopies("none"),
		},
		{
			name: "sticky bit", same: func(was, is seen) bool { return was.mode == is.mode }, want: keptByAll,
			prepare: func(dir string) error { return os.Chmod(filepath.Join(dir, subject), 0o751|fs.ModeSticky) },
		},
		{
			name: "owner and group", missing: needsRoot,
			same:    func(was, is seen) bool { return was.id.UID == is.id.UID && was.id.GID == is.id.GID },
			changed: func(was, is seen) string { return ownerWord(is) },
			prepare: func(dir string) error { return os.Chown(filepath.Join(dir, subject), 1234, 2345) },
			want:    notOfCopies("of the user who runs it"),
		},
		attributeRow("extended attribute", "user.note", []byte("hello\x00\xff")),
		attributeRow("access control list", "system.posix_acl_access", accessList()),
		attributeRow("capabilities", "security.capability", netBind()),
		{
			name: "holes", content: "old\n", binary: true, missing: needsHoles, same: func(was, is seen) bool { return is.sparse },
			changed: func(was, is seen) string { return "filled with zeros" },
			prepare: func(dir string) error { return os.Truncate(filepath.Join(dir, subject), holeSize) },
			want:    keptByAll,
		},
	}
}

// notOfCopies returns the promises for attributes that a copy does not take from its source.
func notOfCopies(word string) saveWords {
	w := keptByAll
	w.copy = word
	return w
}

func attributeRow(what, name string, value []byte) saveRow {
	return saveRow{
		name: fmt.Sprintf("%s, such as `%s`", what, name), same: func(was, is seen) bool { return was.attributes == is.attributes },
		changed: func(was, is seen) string {
			if is.attributes == "" {
				return "none"
			}
			return "others"
		},
		prepare: func(dir string) error { return unix.Setxattr(filepath.Join(dir, subject), name, value, 0) },
		missing: func(dir string) string {
			probe := filepath.Join(dir, "probe")
			if err := errors.Join(os.WriteFile(probe, nil, 0o640), unix.Setxattr(probe, name, value, 0)); err != nil {
				return name + " cannot be set here: " + err.Error()
			}
			return ""
		},
		want: notOfCopies("none"),
	}
}

// accessList lets user 1234 read, in the kernel's format: tag, permissions and id of each entry.
func accessList() []byte {
	list := binary.LittleEndian.AppendUint32(nil, 2) // version
	for _, e := range [][3]uint32{{0x01, 6, 1<<32 - 1}, {0x02, 4, 1234}, {0x04, 4, 1<<32 - 1}, {0x10, 4, 1<<32 - 1}, {0x20, 0, 1<<32 - 1}} {
		list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
		list = binary.LittleEndian.AppendUint16(list, uint16(e[1]))
		list = binary.LittleEndian.AppendUint32(list, e[2])
	}
	return list
}

// netBind is cap_net_bind_service=ep.
func netBind() []byte {
	data := binary.LittleEndian.AppendUint32(nil, 0x02000001) // version 2, effective
	return append(binary.LittleEndian.AppendUint32(data, 1<<10), make([]byte, 12)...)
}

// attributesOf returns all extended attributes of a file except security labels, which the system sets.
func attributesOf(name string) string {
	buf := make([]byte, 4096)
	n, err := unix.Llistxattr(name, buf)
	if err != nil {
		return ""
	}
	names := strings.FieldsFunc(string(buf[:n]), func(r rune) bool { return r == 0 })
	slices.Sort(names)
	var all strings.Builder
	for _, attr := range names {
		if strings.HasPrefix(attr, "security.") && attr != "security.capability" {
			continue
		}
		n, err := unix.Lgetxattr(name, attr, buf)
		if err != nil {
			return err.Error()
		}
		fmt.Fprintf(&all, "%s=%x\n", attr, buf[:n])
	}
	return all.String()
}

const holeSize = 1 << 20

func isSparse(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && info.Size() >= holeSize && st.Blocks*512 < holeSize/2
}

// needsHoles checks that the file system keeps holes and does not turn written zeros into holes.
func needsHoles(dir string) string {
	hole, zeros := filepath.Join(dir, "hole"), filepath.Join(dir, "zeros")
	err := errors.Join(os.WriteFile(hole, nil, 0o600), os.Truncate(hole, holeSize), os.WriteFile(zeros, make([]byte, holeSize), 0o600))
	f, err2 := os.Open(zeros)
	if err = errors.Join(err, err2); err != nil {
		return err.Error()
	}
	err = errors.Join(f.Sync(), f.Close())
	a, err1 := os.Stat(hole)
	b, err2 := os.Stat(zeros)
	if err = errors.Join(err, err1, err2); err != nil {
		return err.Error()
	}
	if !isSparse(a) || isSparse(b) {
		return "the file system does not keep holes, or makes its own"
	}
	return ""
}

func needsRoot(string) string {
	if os.Getuid() != 0 {
		return "only root can give files away"
	}
	return ""
}

func ownerWord(is seen) string {
	if int(is.id.UID) == os.Getuid() && int(is.id.GID) == os.Getgid() {
		return "of the user who runs it"
	}
	return "somebody else's"
}
