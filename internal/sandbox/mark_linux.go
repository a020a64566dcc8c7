//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// limitOfLocks is RLIMIT_LOCKS, a limit that Linux keeps for each process and has not used since version 2.4.25.
// Processes inherit it, everybody can read it, and the filter prevents commands from changing it: so it carries the
// mark.
const limitOfLocks = 10

// limits are all other resources.
var limits = []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15}

// marking is locked while the program itself has a mark, for its new process. The limits apply to the whole process, so
// a single lock is enough.
var marking = sync.OnceValue(func() *sync.Mutex { return new(sync.Mutex) })

// put calls do while the program has the mark. Other processes that the program starts during that time get the mark
// too, but have no filter.
func (m Mark) put(do func() error) error {
	if m == 0 {
		return do()
	}
	marking().Lock()
	defer marking().Unlock()
	var old unix.Rlimit
	if unix.Getrlimit(limitOfLocks, &old) != nil || old.Max < uint64(m) {
		return do() // a lower limit of the host makes the mark impossible
	}
	if unix.Setrlimit(limitOfLocks, &unix.Rlimit{Cur: uint64(m), Max: old.Max}) != nil {
		return do()
	}
	defer func() { _ = unix.Setrlimit(limitOfLocks, &old) }()
	return do()
}

// On reports whether a process has the mark, and is in a sandbox that this program is not in.
func (m Mark) On(pid int) bool {
	var now unix.Rlimit
	if m == 0 || unix.Prlimit(pid, limitOfLocks, nil, &now) != nil || now.Cur != uint64(m) {
		return false
	}
	ours, err := filters("self")
	theirs, err2 := filters(strconv.Itoa(pid))
	return err == nil && err2 == nil && theirs > ours
}

// filters returns the number of call filters of a process.
func filters(pid string) (int, error) {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if number, ok := bytes.CutPrefix(line, []byte("Seccomp_filters:")); ok {
			return strconv.Atoi(string(bytes.TrimSpace(number)))
		}
	}
	return 0, fmt.Errorf("sandbox: process %s shows no filters", pid)
}
