package rootfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/names"
)

// mountInfo is described in proc_pid_mountinfo(5).
const mountInfo = "/proc/self/mountinfo"

// MountPoints returns the canonical names of the mount points below the directory, in order. It returns nil without
// /proc.
func (r *FS) MountPoints() []string {
	dir := r.Dir()
	data, err := os.ReadFile(mountInfo)
	if err != nil || dir == "" {
		return nil
	}
	return mountedBelow(dir, string(data))
}

// mountedBelow returns the mount points of a mountinfo that are below the directory.
func mountedBelow(dir, info string) []string {
	if dir != string(filepath.Separator) {
		dir += string(filepath.Separator)
	}
	var below []string
	for line := range strings.Lines(info) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		rel, inside := strings.CutPrefix(unescaped(fields[4]), dir)
		if clean, err := names.Clean(rel); inside && err == nil {
			below = append(below, clean)
		}
	}
	slices.Sort(below)
	return slices.Compact(below)
}

// unescaped returns a decoded field of mountinfo: blanks, tabs, line ends and backslashes are octal numbers there.
func unescaped(field string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(field)
}
