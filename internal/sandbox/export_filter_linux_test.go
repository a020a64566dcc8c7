//go:build linux && (amd64 || arm64)

package sandbox

import "golang.org/x/sys/unix"

// Without makes calls fail for the current thread, like on a system that does not have them.
func Without(calls []uint32, errno unix.Errno) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{load(offsetNumber)}
	for _, call := range calls {
		filter = append(filter, rule{call: call, then: refuse(errno)}.instructions()...)
	}
	_, err := setFilter(append(filter, returns(allow)), 0)
	return err
}
