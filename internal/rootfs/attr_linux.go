package rootfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/modes"
)

// copyAttributes copies the extended attributes of a file to another file, with its two access control lists.
// Attributes that the source lacks are removed, such as a list inherited from a directory.
func copyAttributes(srcDir int, srcBase string, dstDir int, dstBase string) error {
	src, err := openAttr(srcDir, srcBase)
	if err != nil {
		return err
	}
	defer unix.Close(src)
	dst, err := openAttr(dstDir, dstBase)
	if err != nil {
		return err
	}
	defer unix.Close(dst)
	return copyAttributesOf(src, dst)
}

// copyAttributesOf is copyAttributes for files that are open.
func copyAttributesOf(src, dst int) error {
	lost, err := copyFlags(src, dst, func(fd, flags int) error {
		return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags)
	})
	err = errors.Join(err, copyExtended(src, dst))
	if err == nil && lost != "" {
		err = &LostFlags{Letters: lost}
	}
	return err
}

// keptFlags are the inode flags that can be set on a file after it was written: A, d, S and D of chattr(1).
const keptFlags = 0x80 | 0x40 | 0x08 | 0x10000

// userFlags are the letters of the flags that users set, by their bits. Other flags describe how the file system stores
// the file.
const userFlags = "sucSiadA      jtD      C x   P"

// copyFlags copies the flags of src to dst by calling set, and returns the letters of the flags that dst still lacks.
// Some file systems have no flags, and some, such as FUSE file systems, report flags that they do not set.
func copyFlags(src, dst int, set func(fd, flags int) error) (lost string, err error) {
	want, err := unix.IoctlGetUint32(src, unix.FS_IOC_GETFLAGS)
	if err != nil {
		return "", nil
	}
	have, err := unix.IoctlGetUint32(dst, unix.FS_IOC_GETFLAGS)
	if err == nil && (want^have)&keptFlags != 0 {
		all := have&^keptFlags | want&keptFlags
		switch err := set(dst, int(all)); {
		case err == nil:
			have = all
		case !errors.Is(err, unix.ENOTTY) && !errors.Is(err, errors.ErrUnsupported):
			return "", fmt.Errorf("flags of the inode: %w", err)
		}
	}
	for bit := range len(userFlags) {
		if userFlags[bit] != ' ' && want&^have&(1<<bit) != 0 {
			lost += userFlags[bit : bit+1]
		}
	}
	return lost, nil
}

// copyExtended is the part of copyAttributesOf for extended attributes.
func copyExtended(src, dst int) error {
	want, err := listAttr(src)
	if err != nil {
		return err
	}
	have, err := listAttr(dst)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range have {
		if !slices.Contains(want, name) && isOwnAttr(name) {
			if err := unix.Fremovexattr(dst, name); err != nil {
				errs = append(errs, fmt.Errorf("extended attribute %s: %w", name, err))
			}
		}
	}
	for _, name := range want {
		if err := copyAttr(src, dst, name); err != nil {
			errs = append(errs, fmt.Errorf("extended attribute %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// isOwnAttr reports whether a user or the list of a directory has set the attribute. The system sets security labels.
func isOwnAttr(name string) bool {
	return strings.HasPrefix(name, "user.") || strings.HasPrefix(name, "system.posix_acl_")
}

// copyAttr copies one attribute, unless the value is equal already: setting it may be refused.
func copyAttr(src, dst int, name string) error {
	value, err := getAttr(src, name)
	if err != nil {
		return err
	}
	if old, err := getAttr(dst, name); err == nil && bytes.Equal(old, value) {
		return nil
	}
	return unix.Fsetxattr(dst, name, value, 0)
}

func openAttr(dir int, base string) (fd int, err error) {
	err = retry(func() (err error) {
		fd, err = unix.Openat(dir, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|openNoWait, 0)
		return err
	})
	return fd, err
}

// listAttr returns the names of the attributes to copy. It omits the two attributes that certify the bytes of one file.
func listAttr(fd int) ([]string, error) {
	list, err := growing(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if err != nil {
		if errors.Is(err, unix.ENOTSUP) {
			return nil, nil
		}
		return nil, err
	}
	names := strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })
	return slices.DeleteFunc(names, func(name string) bool {
		return name == "security.ima" || name == "security.evm"
	}), nil
}

func getAttr(fd int, name string) ([]byte, error) {
	return growing(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
}

// growing calls read with larger buffers until a buffer is large enough.
func growing(read func([]byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := read(buf)
		if err == nil {
			return buf[:n], nil
		}
		if !errors.Is(err, unix.ERANGE) || size > 1<<20 {
			return nil, err
		}
	}
}

const (
	listOfNew  = "system.posix_acl_default" // of a directory, for new entries in it
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

// dropList removes the list that a file has inherited from the directory in which it was made.
func dropList(file int) error {
	err := unix.Fremovexattr(file, listOfFile)
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// allowedBy returns the permission bits of a list in the form of the system: a version of four bytes, then entries of a
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
