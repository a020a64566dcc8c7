//go:build !linux

package filelock

// Elsewhere processes are distinguished only by their numbers, and the system does not report the holder of a lock.

func bootID() string       { return "" }
func processSpace() string { return "" }

func lookUpProcess(pid int) (alive bool, start string) { return signals(pid), "" }

func Holder(string) string { return "another run" }
