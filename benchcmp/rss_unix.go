//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// peakRSS returns the peak memory, in bytes, of a process or of a process that it waited for.
func peakRSS(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	peak := int64(usage.Maxrss) //nolint:unconvert // it has 32 bits elsewhere
	if runtime.GOOS == "darwin" {
		return peak
	}
	return peak << 10
}

// userTime returns the processor time of this process so far, without the time of the kernel.
func userTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano())
}
