//go:build unix

package modes

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Umask returns the umask of the process. If the system does not report it, Umask sets a strict umask for a moment to
// read the old one. So a file made at that moment is not less private.
func Umask() fs.FileMode {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		for line := range strings.Lines(string(status)) {
			if value, ok := strings.CutPrefix(line, "Umask:"); ok {
				if mask, err := strconv.ParseUint(strings.TrimSpace(value), 8, 32); err == nil {
					return fs.FileMode(mask) & fs.ModePerm
				}
			}
		}
	}
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return fs.FileMode(mask) & fs.ModePerm
}
