package filelock

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// bootID identifies the run of the kernel. Only programs on this machine since its start can read it.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// processSpace identifies the namespaces for process numbers and start times of processes.
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

// lookUpProcess reports whether such a process exists, and its start time, in ticks since the start of the machine.
func lookUpProcess(pid int) (alive bool, start string) {
	if !signals(pid) {
		return false, ""
	}
	state, start := processState(pid)
	return state != "Z" && state != "X", start // Z and X have ended, and only wait for their parent
}

// processState returns the state and the start time of the process, "" if /proc has no answer, or belongs to another
// namespace of process numbers.
func processState(pid int) (state, start string) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return "", ""
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", ""
	}
	// The second field is the name, in parentheses, and can contain any characters.
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const stateField, startField = 0, 19 // proc(5) counts them from 3
	if len(fields) <= startField {
		return "", ""
	}
	return fields[stateField], fields[startField]
}

// Holder names the process that holds a lock of the file, if the system reports it. It compares only the inode number:
// on some file systems /proc/locks has another device number than stat(2).
func Holder(id string) string {
	const unknown = "another run"
	data, err := os.ReadFile("/proc/locks")
	if err != nil {
		return unknown
	}
	_, ino, _ := strings.Cut(id, ":")
	for line := range strings.Lines(string(data)) {
		// Such as "1: FLOCK ADVISORY WRITE 4711 fe:00:246947 0 EOF". A line with "->" describes a waiting process.
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
