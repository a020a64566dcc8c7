//go:build !windows

package tty

import "os"

func open() (in, out *os.File, err error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return f, f, err
}

// Escapes makes a terminal interpret the codes of colours. All terminals do, except on Windows.
func Escapes(any) bool { return true }
