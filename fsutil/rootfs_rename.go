//go:build linux || darwin

package fsutil

import "syscall"

var (
	_ Exchanger  = (*RootFs)(nil)
	_ NoReplacer = (*RootFs)(nil)
)

// Exchange implements [Exchanger]. Where the mount cannot do it the error matches errors.ErrUnsupported.
func (r *RootFs) Exchange(a, b string) error { return r.renameBy("exchange", a, b, renameExchange) }

// RenameNoReplace implements [NoReplacer]. Where the mount cannot do it the error matches errors.ErrUnsupported.
func (r *RootFs) RenameNoReplace(oldname, newname string) error {
	return r.renameBy("rename", oldname, newname, renameNoReplace)
}

func (r *RootFs) renameBy(op, a, b string, rename func(aDir int, a string, bDir int, b string) error) error {
	from, err := r.linkName(a)
	if err != nil {
		return rootLinkError(op, a, b, err)
	}
	to, err := r.linkName(b)
	if err != nil {
		return rootLinkError(op, a, b, err)
	}
	err = portable(r.at2(from, to, func(aDir int, aBase string, bDir int, bBase string) error {
		return retry(func() error { return rename(aDir, aBase, bDir, bBase) })
	}))
	// EINVAL says both that the mount does not know the call and that a directory was to be put into itself.
	if !Within(from, to) && !Within(to, from) {
		err = unsupportedIf(err, syscall.EINVAL)
	}
	return rootLinkError(op, a, b, unsupportedIf(err, syscall.ENOSYS, syscall.ENOTSUP, syscall.EPERM))
}
