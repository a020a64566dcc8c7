package commit

import (
	"fmt"
	"os"
	"strings"
)

// lockHolder says which process holds a lock of the file, as far as the system tells. It goes by the number of the inode alone:
// on some file systems /proc/locks has another device number than stat(2).
func lockHolder(id string) string {
	const unknown = "another run"
	data, err := os.ReadFile("/proc/locks")
	if err != nil {
		return unknown
	}
	_, ino, _ := strings.Cut(id, ":")
	for line := range strings.Lines(string(data)) {
		// Such as "1: FLOCK ADVISORY WRITE 4711 fe:00:246947 0 EOF". A line with "->" is of one that waits.
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[1] != "FLOCK" || !strings.HasSuffix(fields[5], ":"+ino) {
			continue
		}
		pid, kind := fields[4], ""
		if fields[3] == "READ" {
			kind = ", by a shared flock, which no run takes"
		}
		name, err := os.ReadFile("/proc/" + pid + "/comm")
		if err != nil {
			return "a process that cannot be seen from here" + kind
		}
		return fmt.Sprintf("process %s (%q)%s", pid, strings.TrimSuffix(string(name), "\n"), kind)
	}
	return unknown
}
