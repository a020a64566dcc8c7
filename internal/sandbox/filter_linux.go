//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets of the data of a call. The filter can only load 32 bits at a time.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16 // 8 bytes each, the low half first on both supported architectures
)

// Instructions of the filter.
const (
	opLoad    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	opAnd     = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	opEqual   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	opAtLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	opReturn  = unix.BPF_RET | unix.BPF_K
)

// verdict is the decision about a call.
type verdict uint32

// refuse returns the verdict that a call fails with an error.
func refuse(e unix.Errno) verdict { return verdict(unix.SECCOMP_RET_ERRNO | uint32(e)) }

// The other verdicts.
const (
	allow verdict = unix.SECCOMP_RET_ALLOW
	kill  verdict = unix.SECCOMP_RET_KILL_PROCESS
	ask   verdict = unix.SECCOMP_RET_USER_NOTIF // the program is asked, and answers
)

// rule is the decision about one system call. Only the low 32 bits of its arguments are checked, as the kernel does
// with these arguments.
type rule struct {
	call  uint32
	tests []test  // all must hold
	then  verdict // if all hold, or without tests
	other verdict
}

// test holds if an argument, masked, equals any of the values.
type test struct {
	arg    uint32
	mask   uint32
	values []uint32
}

// instructions returns the rule for the filter. Calls with other numbers skip it.
func (r rule) instructions() []unix.SockFilter {
	var body []unix.SockFilter
	for _, t := range r.tests {
		body = append(body, load(offsetArgs+8*t.arg), unix.SockFilter{Code: opAnd, K: t.mask})
		for i, v := range t.values {
			// A matching value jumps over the other values and the return.
			body = append(body, unix.SockFilter{Code: opEqual, K: v, Jt: uint8(len(t.values) - i)})
		}
		body = append(body, returns(r.other))
	}
	body = append(body, returns(r.then))
	return append([]unix.SockFilter{{Code: opEqual, K: r.call, Jf: uint8(len(body))}}, body...)
}

// load returns the instruction that loads 32 bits of the data of the call.
func load(offset uint32) unix.SockFilter { return unix.SockFilter{Code: opLoad, K: offset} }

// returns returns the instruction that ends the filter.
func returns(v verdict) unix.SockFilter { return unix.SockFilter{Code: opReturn, K: uint32(v)} }

// program returns the filter. Calls of another architecture have other numbers, and could bypass the filter: the
// process is killed, because a 32-bit program would not understand the errors either.
func program(landlock int, network bool, changes verdict) []unix.SockFilter {
	filter := []unix.SockFilter{
		load(offsetArch),
		{Code: opEqual, K: architecture, Jt: 1},
		returns(kill),
		load(offsetNumber),
	}
	filter = append(filter, otherNumbers()...)
	for _, r := range rules(landlock, network, changes) {
		filter = append(filter, r.instructions()...)
	}
	return append(filter, ranges()...)
}

// callsFiltered returns the reason why system calls cannot be filtered, nil if they can.
func callsFiltered() error {
	action := uint32(kill)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return fmt.Errorf("seccomp needs Linux 4.14 or later, built with CONFIG_SECCOMP_FILTER: %w", errno)
	}
	return nil
}

// filterCalls puts the calling thread under the filter, irreversibly, and begins to answer the calls that the filter
// passes on; it returns nil without such calls.
func filterCalls(landlock int, rules *Rules, roots []string) (*answering, error) {
	if landlock == 0 {
		_, err := setFilter(program(landlock, rules.Network, allow), 0)
		return nil, err
	}
	filter := program(landlock, rules.Network, ask)
	// If the kernel supports it, signals do not interrupt a waiting caller.
	listener, err := setFilter(filter,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if errors.Is(err, unix.EINVAL) {
		listener, err = setFilter(filter, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	if errors.Is(err, unix.EBUSY) { // a container answers calls already, and only one program can
		_, err := setFilter(program(landlock, rules.Network, refuse(unix.EPERM)), 0)
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return newAnswering(listener, roots)
}

// setFilter puts the calling thread under a filter, and returns the listener if the flags request one.
func setFilter(filter []unix.SockFilter, flags uintptr) (int, error) {
	p := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&p)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return -1, fmt.Errorf("sandbox: seccomp: %w", errno)
	}
	return int(fd), nil
}
