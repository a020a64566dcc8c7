package commit

import (
	"os"
	"strconv"
	"strings"
)

// bootID names the run of the kernel. Nobody can know it who was not on this machine since it was started.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// processSpace names the namespaces that a process number, and the time at which a process began, are to be understood in.
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

// processStart returns when the process began, in ticks since the machine was started.
func processStart(pid int) string {
	_, start := processState(pid)
	return start
}

// lookUpProcess reports whether there is such a process, and when it began.
func lookUpProcess(pid int) (alive bool, start string) {
	if !signals(pid) {
		return false, ""
	}
	state, start := processState(pid)
	return state != "Z" && state != "X", start // those have ended, and only wait for somebody to take note of it
}

// processState returns the state of the process and when it began, "" if /proc does not tell, or is that of other processes
// than the ones whose numbers are known here.
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
