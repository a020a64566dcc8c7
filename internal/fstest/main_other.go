//go:build !linux

package fstest

func spread(string) {}
