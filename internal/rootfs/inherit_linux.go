package rootfs

import (
	"encoding/binary"
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/modes"
)

const (
	listOfNew  = "system.posix_acl_default" // of a directory, for what is made in it
	listOfFile = "system.posix_acl_access"
)

// Inherit implements [capability.Inheriter].
func (r *FS) Inherit(dir, name string) (fs.FileMode, error) {
	allowed := modes.PermBits
	err := r.doLink("inherit", name, func(clean string) error {
		return r.root.at(clean, func(parent int, base string) error {
			file, err := openAttr(parent, base)
			if err != nil {
				return err
			}
			defer unix.Close(file)
			allowed, err = r.inherit(dir, file)
			return err
		})
	})
	return allowed, err
}

// inherit is Inherit for a file that is open.
func (r *FS) inherit(dir string, file int) (fs.FileMode, error) {
	var list []byte
	from, err := r.root.openDirFD(dir)
	if err == nil {
		defer unix.Close(from)
		list, err = getAttr(from, listOfNew)
	}
	switch {
	case err == nil:
		return allowedBy(list), unix.Fsetxattr(file, listOfFile, list, 0)
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP):
		return modes.PermBits, dropList(file)
	}
	return modes.PermBits, errors.Join(err, dropList(file))
}

// dropList takes away a list that a file has from the directory where it was really made.
func dropList(file int) error {
	err := unix.Fremovexattr(file, listOfFile)
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// allowedBy returns the permission bits of a list as the system keeps it: a version of four bytes, then entries of a
// tag, the permissions and an id.
func allowedBy(list []byte) fs.FileMode {
	const owner, group, mask, other = 0x01, 0x04, 0x10, 0x20
	bits := make(map[uint16]fs.FileMode)
	for at := 4; at+8 <= len(list); at += 8 {
		bits[binary.LittleEndian.Uint16(list[at:])] = fs.FileMode(binary.LittleEndian.Uint16(list[at+2:]) & 0o7)
	}
	middle, ok := bits[mask]
	if !ok {
		middle = bits[group]
	}
	return modes.PermBits&^fs.ModePerm | bits[owner]<<6 | middle<<3 | bits[other]
}
