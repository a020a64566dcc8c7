//go:build unix

package modes

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Umask returns the umask of the process. Where the system does not tell, it is a strict one for a moment, which
// nothing that is made meanwhile becomes less private by.
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
