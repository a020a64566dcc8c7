package filelock

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// bootID names the run of the kernel. Only what was on this machine since it was started can know it.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// processSpace names the namespaces that a process number, and the time at which a process began, are to be
// understood in.
func processSpace() string {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	if clock, err := os.Readlink("/proc/self/ns/time"); err == nil {
		space += " " + clock
	}
	return space
}

// lookUpProcess reports whether there is such a process, and when it began, in ticks since the machine was started.
func lookUpProcess(pid int) (alive bool, start string) {
	if !signals(pid) {
		return false, ""
	}
	state, start := processState(pid)
	return state != "Z" && state != "X", start // those have ended, and only wait for their parent to take note
}

// processState returns the state of the process and when it began, "" if /proc does not tell, or is that of other
// processes than the ones whose numbers are known here.
func processState(pid int) (state, start string) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return "", ""
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", ""
	}
	// The second field is the name, in parentheses, and may have anything in it.
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const stateField, startField = 0, 19 // proc(5) counts them from 3
	if len(fields) <= startField {
		return "", ""
	}
	return fields[stateField], fields[startField]
}

// Holder says which process holds a lock of the file, as far as the system tells. It goes by the number of the
// inode alone: on some file systems /proc/locks has another device number than stat(2).
func Holder(id string) string {
	const unknown = "another run"
	data, err := os.ReadFile("/proc/locks")
	if err != nil {
		return unknown
	}
	_, ino, _ := strings.Cut(id, ":")
	for line := range strings.Lines(string(data)) {
		// Such as "1: FLOCK ADVISORY WRITE 4711 fe:00:246947 0 EOF". A line with "->" is of a process that waits.
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
