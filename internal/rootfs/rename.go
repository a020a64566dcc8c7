//go:build linux || darwin

package rootfs

import (
	"syscall"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/names"
)

var (
	_ capability.Exchanger  = (*FS)(nil)
	_ capability.NoReplacer = (*FS)(nil)
)

// Exchange implements [capability.Exchanger]. Where the mount cannot do it the error matches errors.ErrUnsupported.
func (r *FS) Exchange(a, b string) error { return r.renameBy("exchange", a, b, renameExchange) }

// RenameNoReplace implements [capability.NoReplacer]. Where the mount cannot do it the error matches
// errors.ErrUnsupported.
func (r *FS) RenameNoReplace(oldname, newname string) error {
	return r.renameBy("rename", oldname, newname, renameNoReplace)
}

func (r *FS) renameBy(op, a, b string, rename func(aDir int, a string, bDir int, b string) error) error {
	return r.doTwo(op, a, b, func(from, to string) error {
		err := names.FromOS(r.root.at2(from, to, rename))
		// EINVAL has two meanings: the mount lacks the call, or a directory would be moved into itself.
		if !names.Within(from, to) && !names.Within(to, from) {
			err = names.UnsupportedIf(err, syscall.EINVAL)
		}
		return names.UnsupportedIf(err, syscall.ENOSYS, syscall.ENOTSUP, syscall.EPERM)
	})
}
