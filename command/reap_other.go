//go:build !linux

package command

// Reap kills what is left of commands that had root as their [Command].Root, when the program that ran them was killed
// itself and could not do so. It is of use on Linux alone; here it does nothing, and returns nil.
func Reap(string) error { return nil }
