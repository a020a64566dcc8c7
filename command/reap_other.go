//go:build !linux

package command

// Reap kills the remaining processes of commands that had root as their [Command].Root, after the program that ran them
// was killed itself and could not do so. It is useful only on Linux; here it does nothing, and returns nil.
func Reap(string) error { return nil }
